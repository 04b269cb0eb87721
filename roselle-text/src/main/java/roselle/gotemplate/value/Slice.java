package roselle.gotemplate.value;

import java.util.List;

/**
 * A list.
 *
 * @param isNull whether nobody made it, which JSON tells
 */
public record Slice(List<Object> items, Spelling spelling, boolean isNull) {
    public Slice {
        items = List.copyOf(items);
    }

    public Slice(List<Object> items, Spelling spelling) {
        this(items, spelling, false);
    }

    public Slice(List<Object> items) {
        this(items, Spelling.PLAIN);
    }

    /** A list that nobody made: an empty one. */
    public static Slice none(Spelling spelling) {
        return new Slice(List.of(), spelling, true);
    }
}
