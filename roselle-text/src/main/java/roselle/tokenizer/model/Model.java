package roselle.tokenizer.model;

import java.util.function.IntConsumer;

/** Turns one piece of text into token ids: BPE, Unigram, WordPiece or WordLevel. Thread-safe. */
@FunctionalInterface
public interface Model {
    /**
     * Appends the ids of {@code text[start, end)}, which is not empty.
     *
     * @param during hears of a long piece, while it is worked on, how many more of its characters are done; it may wait there, or end
     *     the work by throwing
     */
    void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during);

    /** Whether each byte of a piece's UTF-8 is part of a token of the vocabulary: nothing is dropped, nothing is unknown. */
    default boolean readsEveryByte() {
        return false;
    }
}
