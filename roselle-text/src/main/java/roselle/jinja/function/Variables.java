package roselle.jinja.function;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.Limits;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.None;
import roselle.jinja.value.Rendering;

/** Reads the caller's variables into the interpreter's values: a copy, so that nothing changes under a rendering. */
final class Variables {
    private Variables() {}

    static Object read(Rendering rendering, String name, @Nullable Object value) {
        return read(rendering, name, value, 0);
    }

    private static Object read(Rendering rendering, String name, @Nullable Object value, int depth) {
        rendering.charge(8);
        if (depth > Limits.DATA_DEPTH) {
            throw new TemplateFault(
                    "variable '" + name + "' is nested more than " + Limits.DATA_DEPTH + " levels deep");
        }
        return switch (value) {
            case null -> None.NONE;
            case String text -> text;
            case Boolean truth -> truth;
            case Integer number -> number.longValue();
            case Long number -> number;
            case Short number -> number.longValue();
            case Byte number -> number.longValue();
            case BigInteger number -> integer(rendering, number);
            case Double number -> number;
            case Float number -> number.doubleValue();
            case BigDecimal number -> number.doubleValue();
            case Map<?, ?> map -> dictionary(rendering, name, map, depth);
            case List<?> list -> list(rendering, name, list, depth);
            default ->
                throw new TemplateFault("variable '" + name + "' holds a "
                        + value.getClass().getSimpleName()
                        + ": only strings, numbers, booleans, null, lists and maps are data");
        };
    }

    private static Object integer(Rendering rendering, BigInteger number) {
        rendering.chargeBits(number.bitLength());
        return Numbers.normal(number);
    }

    private static Object dictionary(Rendering rendering, String name, Map<?, ?> map, int depth) {
        var dictionary = new Dictionary(map.size());
        map.forEach((key, member) -> {
            if (!(key instanceof String text)) {
                throw new TemplateFault("variable '" + name + "' holds a map with a key that is not a string");
            }
            dictionary.put(text, read(rendering, name, member, depth + 1));
        });
        return dictionary;
    }

    private static Object list(Rendering rendering, String name, List<?> list, int depth) {
        var copy = new ArrayList<>(list.size());
        for (Object member : list) {
            copy.add(read(rendering, name, member, depth + 1));
        }
        return copy;
    }
}
