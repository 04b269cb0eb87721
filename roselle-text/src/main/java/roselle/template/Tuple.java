package roselle.template;

import java.util.List;

/**
 * Python's tuple.
 *
 * @param names of the members, where they have some; they take no part in comparisons
 */
record Tuple(List<Object> items, List<String> names) {
    Tuple(List<Object> items) {
        this(items, List.of());
    }

    static Tuple of(Object... items) {
        return new Tuple(List.of(items));
    }
}
