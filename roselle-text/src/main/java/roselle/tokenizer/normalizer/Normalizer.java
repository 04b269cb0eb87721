package roselle.tokenizer.normalizer;

/** Rewrites text before it is split: Unicode normal forms, case, replaced or prepended characters. Thread-safe. */
@FunctionalInterface
public interface Normalizer {
    /** Leaves the text as it is. */
    Normalizer NONE = text -> text;

    /** The rewritten text; {@code text} holds no lone surrogates, and the result must not either. */
    String normalize(String text);

    /**
     * Whether the result begins with what {@code text} begins with, rewritten or with something put before it, and not
     * with something further on because the beginning was dropped.
     */
    default boolean keepsBeginning(String text) {
        return true;
    }
}
