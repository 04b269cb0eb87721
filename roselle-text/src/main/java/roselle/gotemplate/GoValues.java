package roselle.gotemplate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Nil;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Spelling;

/** What callers say in JSON as values of Go: numbers are floats, as Go reads them. */
final class GoValues {
    private GoValues() {}

    /** A map; an empty one of what is none. */
    static Map<?, ?> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? map : Map.of();
    }

    /** A text; an empty one of what is none. */
    static String text(@Nullable Object value) {
        return value instanceof String text ? text : "";
    }

    static Object of(@Nullable Object value) {
        return switch (value) {
            case null -> Nil.NIL;
            case String text -> text;
            case Boolean truth -> truth;
            case Number number -> number.doubleValue();
            case List<?> list -> new Slice(all(list));
            case Map<?, ?> map -> map(map, Spelling.PLAIN);
            default -> String.valueOf(value);
        };
    }

    static List<Object> all(List<?> list) {
        List<Object> values = new ArrayList<>();
        list.forEach(each -> values.add(of(each)));
        return values;
    }

    static Dictionary map(Map<?, ?> map, Spelling spelling) {
        Map<String, Object> values = new TreeMap<>();
        map.forEach((key, value) -> values.put(String.valueOf(key), of(value)));
        return Dictionary.of(values, spelling);
    }
}
