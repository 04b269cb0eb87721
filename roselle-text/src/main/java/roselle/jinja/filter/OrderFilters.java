package roselle.jinja.filter;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import roselle.jinja.operation.MemberPath;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Generator;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Keys;
import roselle.jinja.value.None;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Filters that compare members. */
final class OrderFilters {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .named("sort", "reverse? case_sensitive? attribute?", OrderFilters::sort)
            .named("dictsort", "case_sensitive? by? reverse?", OrderFilters::sortDictionary)
            .named(
                    "unique",
                    "case_sensitive? attribute?",
                    (rendering, value, arguments) -> Generator.of(
                            "unique", () -> unique(rendering, value, arguments).iterator()))
            .named(
                    "min",
                    "case_sensitive? attribute?",
                    (rendering, value, arguments) -> extreme(rendering, value, arguments, false))
            .named(
                    "max",
                    "case_sensitive? attribute?",
                    (rendering, value, arguments) -> extreme(rendering, value, arguments, true))
            .named("groupby", "attribute default? case_sensitive?", OrderFilters::group)
            .build();

    private OrderFilters() {}

    private static Object sort(Rendering rendering, Object value, Bound arguments) {
        boolean isExact = arguments.truth(1, false);
        var paths = MemberPath.several(arguments.or(2, None.NONE));
        var members = Iteration.list(rendering, value);
        var keys = new ArrayList<>();
        for (Object member : members) {
            var key = new ArrayList<>();
            paths.forEach(path -> key.add(folded(path.follow(rendering, member), isExact)));
            keys.add(key);
        }
        return Comparison.sort(rendering, members, keys, arguments.truth(0, false));
    }

    private static Object sortDictionary(Rendering rendering, Object value, Bound arguments) {
        String by = arguments.text(1, "key");
        if (!by.equals("key") && !by.equals("value")) {
            throw new TemplateFault("dictsort sorts by either 'key' or 'value'");
        }
        if (!(value instanceof Dictionary dictionary)) {
            throw value instanceof Undefined undefined
                    ? undefined.fault()
                    : new TemplateFault("dictsort needs a mapping, not " + Types.name(value));
        }
        boolean isExact = arguments.truth(0, false);
        var keys = new ArrayList<>();
        for (Object member : by.equals("key") ? dictionary.keys() : dictionary.values()) {
            keys.add(folded(member, isExact));
        }
        return Comparison.sort(rendering, dictionary.items(), keys, arguments.truth(2, false));
    }

    private static List<Object> unique(Rendering rendering, Object value, Bound arguments) {
        var path = MemberPath.of(arguments.or(1, None.NONE));
        var seen = new HashSet<>();
        var unique = new ArrayList<>();
        for (var members = Iteration.over(rendering, value); members.hasNext(); ) {
            var member = members.next();
            var key = folded(path.follow(rendering, member), arguments.truth(0, false));
            if (seen.add(Keys.canonical(rendering, key))) {
                unique.add(member);
            }
        }
        return unique;
    }

    private static Object extreme(Rendering rendering, Object value, Bound arguments, boolean largest) {
        var path = MemberPath.of(arguments.or(1, None.NONE));
        boolean isExact = arguments.truth(0, false);
        var members = Iteration.over(rendering, value);
        if (!members.hasNext()) {
            return new Undefined("no aggregated item, sequence was empty");
        }
        var best = members.next();
        var bestKey = folded(path.follow(rendering, best), isExact);
        while (members.hasNext()) {
            var member = members.next();
            var key = folded(path.follow(rendering, member), isExact);
            boolean better = largest
                    ? Comparison.compare(rendering, ">", key, bestKey)
                    : Comparison.less(rendering, key, bestKey);
            best = better ? member : best;
            bestKey = better ? key : bestKey;
        }
        return best;
    }

    private static Object group(Rendering rendering, Object value, Bound arguments) {
        var path = MemberPath.of(arguments.at(0));
        var otherwise = arguments.or(1, None.NONE);
        boolean isExact = arguments.truth(2, false);
        var members = Iteration.list(rendering, value);
        var keys = new ArrayList<>();
        members.forEach(member -> keys.add(folded(path.follow(rendering, member, otherwise), isExact)));
        var groups = new ArrayList<>();
        List<Object> group = new ArrayList<>();
        Object current = None.NONE;
        for (Object member : Comparison.sort(rendering, members, keys, false)) {
            var key = folded(path.follow(rendering, member, otherwise), isExact);
            if (group.isEmpty() || !Comparison.equal(rendering, key, current)) {
                group = new ArrayList<>();
                current = key;
                var label = isExact ? key : path.follow(rendering, member, otherwise);
                groups.add(new Tuple(List.of(label, group), List.of("grouper", "list")));
            }
            group.add(member);
        }
        return groups;
    }

    private static Object folded(Object key, boolean isExact) {
        return key instanceof String text && !isExact ? Text.lower(text) : key;
    }
}
