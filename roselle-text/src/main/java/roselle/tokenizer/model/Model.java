package roselle.tokenizer.model;

/** Turns one piece of text into token ids: BPE, Unigram, WordPiece or WordLevel. Thread-safe. */
@FunctionalInterface
public interface Model {
    /** Appends the ids of {@code text[start, end)}, which is not empty. */
    void tokenize(String text, int start, int end, IdBuffer ids);

    /** Whether each byte of a piece's UTF-8 is part of a token of the vocabulary: nothing is dropped, nothing is unknown. */
    default boolean readsEveryByte() {
        return false;
    }
}
