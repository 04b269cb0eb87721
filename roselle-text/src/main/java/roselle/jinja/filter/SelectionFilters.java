package roselle.jinja.filter;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import roselle.jinja.operation.MemberPath;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Generator;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Truth;

/** Filters that take other filters or tests: they work when their members are asked for. */
final class SelectionFilters {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .raw("map", (rendering, value, arguments) -> Generator.of("map", () -> map(rendering, value, arguments)))
            .raw("select", (rendering, value, arguments) -> select(rendering, value, arguments, false, true))
            .raw("reject", (rendering, value, arguments) -> select(rendering, value, arguments, false, false))
            .raw("selectattr", (rendering, value, arguments) -> select(rendering, value, arguments, true, true))
            .raw("rejectattr", (rendering, value, arguments) -> select(rendering, value, arguments, true, false))
            .build();

    private SelectionFilters() {}

    private static Iterator<Object> map(Rendering rendering, Object value, Arguments arguments) {
        if (!Truth.of(value)) {
            return java.util.Collections.emptyIterator();
        }
        var mapping = mapping(rendering, arguments);
        var members = Iteration.over(rendering, value);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return members.hasNext();
            }

            @Override
            public Object next() {
                return mapping.apply(members.next());
            }
        };
    }

    private static Function<Object, Object> mapping(Rendering rendering, Arguments arguments) {
        if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
            var named = new LinkedHashMap<>(arguments.named());
            var path = MemberPath.of(named.getOrDefault("attribute", None.NONE));
            named.remove("attribute");
            var otherwise = named.getOrDefault("default", None.NONE);
            named.remove("default");
            if (!named.isEmpty()) {
                throw new TemplateFault("map: unexpected keyword argument '"
                        + named.keySet().iterator().next() + "'");
            }
            return member -> path.follow(rendering, member, otherwise);
        }
        if (arguments.positional().isEmpty()) {
            throw new TemplateFault("map requires a filter argument");
        }
        var filter = Filters.named(
                PythonText.string(rendering, arguments.positional().getFirst()));
        var rest = arguments.without(1);
        return member -> filter.apply(rendering, member, rest);
    }

    private static Object select(
            Rendering rendering, Object value, Arguments arguments, boolean byAttribute, boolean wanted) {
        return Generator.of("select", () -> {
            if (!Truth.of(value)) {
                return java.util.Collections.emptyIterator();
            }
            var test = test(rendering, arguments, byAttribute);
            var members = Iteration.over(rendering, value);
            return new Selected(members, member -> test.test(member) == wanted);
        });
    }

    private static Predicate<Object> test(Rendering rendering, Arguments arguments, boolean byAttribute) {
        var positional = arguments.positional();
        if (byAttribute && positional.isEmpty()) {
            throw new TemplateFault("missing parameter for attribute name");
        }
        var path = byAttribute ? MemberPath.of(positional.getFirst()) : MemberPath.SELF;
        int place = byAttribute ? 1 : 0;
        if (positional.size() <= place) {
            return member -> Truth.of(path.follow(rendering, member));
        }
        var test = Tests.named(PythonText.string(rendering, positional.get(place)));
        var rest = arguments.without(place + 1);
        return member -> Truth.of(test.apply(rendering, path.follow(rendering, member), rest));
    }

    /** The members that a predicate accepts, asked when they are needed. */
    private static final class Selected implements Iterator<Object> {
        private final Iterator<Object> members;
        private final Predicate<Object> predicate;
        private @Nullable Object next;

        Selected(Iterator<Object> members, Predicate<Object> predicate) {
            this.members = members;
            this.predicate = predicate;
        }

        @Override
        public boolean hasNext() {
            while (next == null && members.hasNext()) {
                var member = members.next();
                next = predicate.test(member) ? member : null;
            }
            return next != null;
        }

        @Override
        public Object next() {
            if (!hasNext() || next == null) {
                throw new NoSuchElementException();
            }
            var member = next;
            next = null;
            return member;
        }
    }
}
