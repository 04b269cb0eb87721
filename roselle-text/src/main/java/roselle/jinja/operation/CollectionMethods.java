package roselle.jinja.operation;

import java.util.List;
import java.util.Map;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.None;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;
import roselle.jinja.value.View;

/** The methods of Python's dict, list, tuple and range that change nothing. */
final class CollectionMethods {
    static final Map<String, Builtin> DICTIONARY = new Builtin.Table()
            .positional("get", "key default?", (rendering, subject, arguments) -> {
                var value = ((Dictionary) subject).find(rendering, arguments.at(0));
                return value == null ? arguments.or(1, None.NONE) : value;
            })
            .positional(
                    "keys", "", (rendering, subject, _) -> view(rendering, "dict_keys", ((Dictionary) subject).keys()))
            .positional(
                    "values",
                    "",
                    (rendering, subject, _) -> view(rendering, "dict_values", ((Dictionary) subject).values()))
            .positional(
                    "items",
                    "",
                    (rendering, subject, _) -> view(rendering, "dict_items", ((Dictionary) subject).items()))
            .positional("copy", "", (_, subject, _) -> ((Dictionary) subject).copy())
            .build();

    static final Map<String, Builtin> TUPLE = new Builtin.Table()
            .positional(
                    "count",
                    "value",
                    (rendering, subject, arguments) ->
                            count(rendering, Iteration.list(rendering, subject), arguments.at(0)))
            .positional(
                    "index",
                    "value start? stop?",
                    (rendering, subject, arguments) -> index(rendering, Iteration.list(rendering, subject), arguments))
            .build();

    static final Map<String, Builtin> LIST = new Builtin.Table()
            .all(TUPLE)
            .positional("copy", "", (rendering, subject, _) -> Iteration.list(rendering, subject))
            .build();

    private CollectionMethods() {}

    private static View view(Rendering rendering, String name, List<Object> members) {
        rendering.chargeElements(members.size());
        return new View(name, members);
    }

    private static long count(Rendering rendering, List<Object> list, Object value) {
        return list.stream()
                .filter(member -> Types.isIdentical(member, value) || Comparison.equal(rendering, member, value))
                .count();
    }

    private static long index(Rendering rendering, List<Object> list, Bound arguments) {
        int start = place(arguments.integer(1, 0), list.size());
        int stop = place(arguments.integer(2, list.size()), list.size());
        for (int i = start; i < stop; i++) {
            if (Types.isIdentical(list.get(i), arguments.at(0))
                    || Comparison.equal(rendering, list.get(i), arguments.at(0))) {
                return i;
            }
        }
        throw new TemplateFault(Types.brief(arguments.at(0)) + " is not in the list");
    }

    private static int place(int index, int length) {
        return Math.clamp(index < 0 ? (long) index + length : index, 0, length);
    }
}
