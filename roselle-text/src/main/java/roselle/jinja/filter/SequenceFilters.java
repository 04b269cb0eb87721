package roselle.jinja.filter;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import roselle.jinja.operation.Arithmetic;
import roselle.jinja.operation.Attributes;
import roselle.jinja.operation.MemberPath;
import roselle.jinja.operation.Subscripts;
import roselle.jinja.operation.TextMethods;
import roselle.jinja.run.Loop;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Generator;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Truth;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Filters that look at members without comparing them. */
final class SequenceFilters {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .named("length", "", (_, value, _) -> length(value))
            .alias("count", "length")
            .named("list", "", (rendering, value, _) -> Iteration.list(rendering, value))
            .named("first", "", (rendering, value, _) -> {
                var members = Iteration.over(rendering, value);
                return members.hasNext() ? members.next() : new Undefined("no first item, sequence was empty");
            })
            .named("last", "", (rendering, value, _) -> {
                var members = reversed(rendering, value);
                return members.hasNext() ? members.next() : new Undefined("no last item, sequence was empty");
            })
            .named("reverse", "", (rendering, value, _) -> reverse(rendering, value))
            .named("items", "", (rendering, value, _) -> Generator.of("items", () -> items(rendering, value)))
            .named("join", "d? attribute?", SequenceFilters::join)
            .named("batch", "linecount fill_with?", SequenceFilters::batch)
            .named(
                    "slice",
                    "slices fill_with?",
                    (rendering, value, arguments) -> Generator.of(
                            "slice", () -> slices(rendering, value, arguments).iterator()))
            .named("sum", "attribute? start?", SequenceFilters::sum)
            .named("default", "default_value? boolean?", (_, value, arguments) -> {
                boolean missing = value instanceof Undefined || (arguments.truth(1, false) && !Truth.of(value));
                return missing ? arguments.or(0, "") : value;
            })
            .alias("d", "default")
            .named("attr", "name", (rendering, value, arguments) -> {
                if (value instanceof Undefined undefined) {
                    throw undefined.fault();
                }
                return Attributes.ofSubscript(rendering, value, arguments.text(0));
            })
            .build();

    private SequenceFilters() {}

    private static long length(Object value) {
        int length = Iteration.length(value);
        if (length < 0) {
            throw new TemplateFault("object of type '" + Types.name(value) + "' has no len()");
        }
        return length;
    }

    private static Iterator<Object> reversed(Rendering rendering, Object value) {
        if (Iteration.length(value) < 0 || value instanceof Loop) {
            throw new TemplateFault("'" + Types.name(value) + "' object is not reversible");
        }
        return Iteration.list(rendering, value).reversed().iterator();
    }

    private static Object reverse(Rendering rendering, Object value) {
        if (Types.isText(value)) {
            return Subscripts.slice(rendering, value, None.NONE, None.NONE, -1L);
        }
        var list = Iteration.list(rendering, value);
        Collections.reverse(list);
        return value instanceof Generator ? list : new Generator("reversed", list.iterator());
    }

    private static Iterator<Object> items(Rendering rendering, Object value) {
        return switch (value) {
            case Undefined _ -> Collections.emptyIterator();
            case Dictionary dictionary -> {
                rendering.chargeElements(dictionary.size());
                yield dictionary.items().iterator();
            }
            default -> throw new TemplateFault("can only get item pairs from a mapping, not " + Types.name(value));
        };
    }

    private static Object join(Rendering rendering, Object value, Bound arguments) {
        var path = arguments.isSet(1) ? MemberPath.of(arguments.at(1)) : MemberPath.SELF;
        var parts = new ArrayList<Object>();
        for (var members = Iteration.over(rendering, value); members.hasNext(); ) {
            parts.add(PythonText.string(rendering, path.follow(rendering, members.next())));
        }
        return TextMethods.join(rendering, PythonText.string(rendering, arguments.or(0, "")), parts);
    }

    private static Object batch(Rendering rendering, Object value, Bound arguments) {
        int size = arguments.integer(0);
        return Generator.of("batch", () -> {
            var batches = new ArrayList<>();
            List<Object> batch = new ArrayList<>();
            for (var members = Iteration.over(rendering, value); members.hasNext(); ) {
                if (batch.size() == size) {
                    batches.add(batch);
                    batch = new ArrayList<>();
                }
                batch.add(members.next());
            }
            if (!batch.isEmpty()) {
                if (arguments.isSet(1) && batch.size() < size) {
                    rendering.chargeElements(size);
                    batch.addAll(Collections.nCopies(size - batch.size(), arguments.at(1)));
                }
                batches.add(batch);
            }
            return batches.iterator();
        });
    }

    private static List<Object> slices(Rendering rendering, Object value, Bound arguments) {
        var members = Iteration.list(rendering, value);
        int count = arguments.integer(0);
        if (count == 0) {
            throw new TemplateFault("slice: division by zero");
        }
        rendering.chargeElements(Math.max(count, 0));
        var slices = new ArrayList<>();
        int size = Math.floorDiv(members.size(), count);
        int larger = Math.floorMod(members.size(), count);
        int start = 0;
        for (int i = 0; i < count; i++) {
            int end = start + size + (i < larger ? 1 : 0);
            var slice = new ArrayList<>(members.subList(start, end));
            if (arguments.isSet(1) && i >= larger) {
                slice.add(arguments.at(1));
            }
            slices.add(slice);
            start = end;
        }
        return slices;
    }

    private static Object sum(Rendering rendering, Object value, Bound arguments) {
        var path = arguments.isSet(0) ? MemberPath.of(arguments.at(0)) : MemberPath.SELF;
        var sum = arguments.or(1, 0L);
        if (Types.isText(sum)) {
            throw new TemplateFault("sum cannot add up strings: use join");
        }
        for (var members = Iteration.over(rendering, value); members.hasNext(); ) {
            sum = Arithmetic.add(rendering, sum, path.follow(rendering, members.next()));
        }
        return sum;
    }
}
