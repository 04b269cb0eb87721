package roselle.tokenizer.normalizer;

/** Rewrites text before it is split: Unicode normal forms, case, replaced or prepended characters. Thread-safe. */
@FunctionalInterface
public interface Normalizer {
    /** Leaves the text as it is. */
    Normalizer NONE = (text, limit) -> text;

    /**
     * The rewritten text; {@code text} holds no lone surrogates, and the result must not either. A result longer than {@code
     * limit}, see {@link Growth}, is refused before much more of it is made.
     */
    String normalize(String text, int limit);

    /**
     * Whether the result begins with what {@code text} begins with, rewritten or with something put before it, and not
     * with something further on because the beginning was dropped.
     */
    default boolean keepsBeginning(String text, int limit) {
        return true;
    }
}
