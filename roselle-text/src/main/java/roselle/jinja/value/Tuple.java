package roselle.jinja.value;

import java.util.List;

/**
 * Python's tuple.
 *
 * @param names of the members, where they have some; they take no part in comparisons
 */
public record Tuple(List<Object> items, List<String> names) {
    public Tuple(List<Object> items) {
        this(items, List.of());
    }

    public static Tuple of(Object... items) {
        return new Tuple(List.of(items));
    }
}
