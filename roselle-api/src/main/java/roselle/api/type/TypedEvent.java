package roselle.api.type;

import org.jspecify.annotations.Nullable;

/**
 * What is told while the answer of a Java type is read, each as soon as the model has written it.
 *
 * <p>A field is any value of the answer. Its path leads to it from the whole, whose own is empty: {@code lines[0].price}, and
 * {@code totals["EUR"]} for the value of a map. Fields begin and end as brackets do: a record's after its components'.
 */
public sealed interface TypedEvent {
    /** The thoughts before the answer go on. */
    record Thought(String text) implements TypedEvent {}

    /** A field's first character was written. */
    record FieldStarted(String path) implements TypedEvent {}

    /**
     * A {@code String} goes on; values of other types come as a whole.
     *
     * @param text what follows in it, without JSON's escapes, never empty and never half of a surrogate pair
     */
    record FieldDelta(String path, String text) implements TypedEvent {}

    /**
     * A field is complete.
     *
     * @param value as the answer will have it: an {@code Integer}, a record, {@code Optional} …; null where the type allows it
     */
    record FieldDone(String path, @Nullable Object value) implements TypedEvent {}
}
