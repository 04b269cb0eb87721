package roselle.jinja.operation;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.Numbers;
import roselle.jinja.value.Attributed;
import roselle.jinja.value.BoundMethod;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Markup;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Range;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Undefined;
import roselle.jinja.value.View;

/** Jinja's {@code x.name}: a method or attribute that Python's types have, else a member of that name. */
public final class Attributes {
    private static final Set<String> LIST_CHANGES =
            Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");
    private static final Set<String> DICTIONARY_CHANGES = Set.of("clear", "pop", "popitem", "setdefault", "update");

    private static final Set<String> MARKUP_CHANGES = Set.of(
            "capitalize",
            "casefold",
            "center",
            "expandtabs",
            "ljust",
            "lower",
            "lstrip",
            "removeprefix",
            "removesuffix",
            "rjust",
            "rstrip",
            "strip",
            "swapcase",
            "title",
            "upper",
            "zfill");

    private Attributes() {}

    /** What {@code owner.name} is: attributes first. */
    public static Object of(Rendering rendering, Object owner, String name) {
        if (owner instanceof Undefined undefined && !isInternal(name)) {
            throw undefined.fault();
        }
        var attribute = find(rendering, owner, name);
        if (attribute != null) {
            return attribute;
        }
        var member = owner instanceof Dictionary dictionary ? dictionary.find(name) : null;
        return member == null ? Undefined.attribute(owner, name) : member;
    }

    /** What {@code owner['name']} is where the owner has no such member. */
    public static Object ofSubscript(Rendering rendering, Object owner, String name) {
        var attribute = find(rendering, owner, name);
        return attribute == null ? Undefined.attribute(owner, name) : attribute;
    }

    private static boolean isInternal(String name) {
        return name.startsWith("__") && name.endsWith("__");
    }

    private static @Nullable Object find(Rendering rendering, Object owner, String name) {
        if (name.startsWith("__")) {
            return Undefined.unsafe(owner, name);
        }
        return switch (owner) {
            case Dictionary _ -> method(owner, name, CollectionMethods.DICTIONARY, DICTIONARY_CHANGES);
            case String _ -> method(owner, name, TextMethods.ALL, Set.of());
            case Markup _ -> ofMarkup(owner, name);
            case List<?> _ -> method(owner, name, CollectionMethods.LIST, LIST_CHANGES);
            case Tuple tuple -> ofTuple(tuple, name);
            case Range range -> ofRange(range, name);
            case View _ -> null;
            case Attributed attributed -> ofObject(rendering, attributed, name);
            case Double number -> ofFloat(number, name);
            case Long _ -> ofInteger(owner, name);
            case Boolean _ -> ofInteger(owner, name);
            case BigInteger _ -> ofInteger(owner, name);
            default -> null;
        };
    }

    /** The methods that change a text keep it markup; the others see plain text. */
    private static @Nullable Object ofMarkup(Object owner, String name) {
        var method = TextMethods.ALL.get(name);
        if (method == null || !MARKUP_CHANGES.contains(name)) {
            return method(owner, name, TextMethods.ALL, Set.of());
        }
        return new BoundMethod(
                name,
                owner,
                (rendering, subject, arguments) ->
                        new Markup(PythonText.string(rendering, method.apply(rendering, subject, arguments))));
    }

    private static @Nullable Object method(
            Object owner, String name, Map<String, Builtin> methods, Set<String> changes) {
        var method = methods.get(name);
        if (method != null) {
            return new BoundMethod(name, owner, method);
        }
        return changes.contains(name) ? Undefined.unsafe(owner, name) : null;
    }

    private static @Nullable Object ofObject(Rendering rendering, Attributed owner, String name) {
        var attribute = owner.attribute(rendering, name);
        return attribute != null && name.startsWith("_") ? Undefined.unsafe(owner, name) : attribute;
    }

    private static @Nullable Object ofTuple(Tuple tuple, String name) {
        int field = tuple.names().indexOf(name);
        return field < 0
                ? method(tuple, name, CollectionMethods.TUPLE, Set.of())
                : tuple.items().get(field);
    }

    private static @Nullable Object ofRange(Range range, String name) {
        return switch (name) {
            case "start" -> range.start();
            case "stop" -> range.stop();
            case "step" -> range.step();
            default -> method(range, name, CollectionMethods.TUPLE, Set.of());
        };
    }

    private static @Nullable Object ofInteger(Object number, String name) {
        return switch (name) {
            case "real", "numerator" -> Numbers.normal(Numbers.big(number));
            case "imag" -> 0L;
            case "denominator" -> 1L;
            case "bit_length" ->
                new BoundMethod(name, number, (_, _, _) ->
                        (long) Numbers.big(number).abs().bitLength());
            default -> null;
        };
    }

    private static @Nullable Object ofFloat(double number, String name) {
        return switch (name) {
            case "real" -> number;
            case "imag" -> 0.0;
            case "is_integer" ->
                new BoundMethod(name, number, (_, _, _) -> !Double.isInfinite(number) && Math.rint(number) == number);
            default -> null;
        };
    }
}
