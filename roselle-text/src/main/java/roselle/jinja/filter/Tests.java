package roselle.jinja.filter;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import roselle.jinja.operation.Arithmetic;
import roselle.jinja.operation.TextPredicates;
import roselle.jinja.run.Loop;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Keys;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;
import roselle.jinja.value.View;

/** All tests by name. */
public final class Tests {
    public static final Map<String, Builtin> ALL = new Builtin.Table()
            .all(ofKinds())
            .all(ofComparisons())
            .named("odd", "", (rendering, value, _) -> remainder(rendering, value, 2L) == 1)
            .named("even", "", (rendering, value, _) -> remainder(rendering, value, 2L) == 0)
            .named(
                    "divisibleby",
                    "num",
                    (rendering, value, arguments) -> remainder(rendering, value, arguments.at(0)) == 0)
            .named("lower", "", (rendering, value, _) -> TextPredicates.isLower(PythonText.string(rendering, value)))
            .named("upper", "", (rendering, value, _) -> TextPredicates.isUpper(PythonText.string(rendering, value)))
            .named("filter", "", (rendering, value, _) -> Filters.ALL.containsKey(key(rendering, value)))
            .named("test", "", (rendering, value, _) -> isTest(key(rendering, value)))
            .build();

    private Tests() {}

    static Builtin named(String name) {
        var test = ALL.get(name);
        if (test == null) {
            throw new TemplateFault("no test named '" + name + "'");
        }
        return test;
    }

    private static boolean isTest(String name) {
        return ALL.containsKey(name);
    }

    /** The name that a value is looked up by; a value that is no string is no name. */
    private static String key(Rendering rendering, Object value) {
        return Keys.canonical(rendering, value) instanceof String name ? name : "";
    }

    private static Map<String, Builtin> ofKinds() {
        var table = new Builtin.Table();
        kind(table, "defined", value -> !(value instanceof Undefined));
        kind(table, "undefined", value -> value instanceof Undefined);
        kind(table, "none", value -> value == None.NONE);
        kind(table, "boolean", value -> value instanceof Boolean);
        kind(table, "true", value -> value.equals(true));
        kind(table, "false", value -> value.equals(false));
        kind(table, "integer", value -> Numbers.isInteger(value) && !(value instanceof Boolean));
        kind(table, "float", value -> value instanceof Double);
        kind(table, "number", Numbers::isNumber);
        kind(table, "string", Types::isText);
        kind(table, "mapping", value -> value instanceof Dictionary);
        kind(table, "iterable", Iteration::isIterable);
        kind(table, "sequence", Tests::isSequence);
        kind(table, "callable", value -> value instanceof Callable || value instanceof Undefined);
        kind(table, "escaped", value -> value instanceof Markup);
        return table.build();
    }

    private static void kind(Builtin.Table table, String name, Predicate<Object> predicate) {
        table.named(name, "", (_, value, _) -> predicate.test(value));
    }

    private static boolean isSequence(Object value) {
        return switch (value) {
            case View _ -> false;
            case Loop _ -> false;
            default -> Iteration.length(value) >= 0;
        };
    }

    private static Map<String, Builtin> ofComparisons() {
        var table = new Builtin.Table();
        for (String name : List.of("==", "eq", "equalto")) {
            table.positional(
                    name,
                    "other",
                    (rendering, value, arguments) -> Comparison.equal(rendering, value, arguments.at(0)));
        }
        for (String name : List.of("!=", "ne")) {
            table.positional(
                    name,
                    "other",
                    (rendering, value, arguments) -> !Comparison.equal(rendering, value, arguments.at(0)));
        }
        ordered(table, "<", "<", "lt", "lessthan");
        ordered(table, "<=", "<=", "le");
        ordered(table, ">", ">", "gt", "greaterthan");
        ordered(table, ">=", ">=", "ge");
        table.named(
                "in", "seq", (rendering, value, arguments) -> Iteration.contains(rendering, arguments.at(0), value));
        table.named("sameas", "other", (_, value, arguments) -> isSame(value, arguments.at(0)));
        return table.build();
    }

    private static void ordered(Builtin.Table table, String operator, String... names) {
        for (String name : names) {
            table.positional(
                    name,
                    "other",
                    (rendering, value, arguments) -> Comparison.compare(rendering, operator, value, arguments.at(0)));
        }
    }

    /** Identity, where Python keeps one object: none, booleans and small integers. */
    private static boolean isSame(Object value, Object other) {
        boolean isShared = value instanceof Boolean || (value instanceof Long number && number >= -5 && number <= 256);
        return Types.isIdentical(value, other) || (isShared && value.equals(other));
    }

    private static double remainder(Rendering rendering, Object value, Object divisor) {
        var remainder = Arithmetic.apply(rendering, Arithmetic.Operator.MODULO, value, divisor);
        return Numbers.isNumber(remainder) ? Numbers.real(remainder) : Double.NaN;
    }
}
