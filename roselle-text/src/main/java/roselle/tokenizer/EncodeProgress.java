package roselle.tokenizer;

/** Hears how far the encoding of a text is, on the thread that encodes; it may wait there, or end the encoding by throwing. */
@FunctionalInterface
public interface EncodeProgress {
    /** Hears nothing. */
    EncodeProgress NONE = (_, _) -> {};

    /**
     * Another piece was encoded, or a part of a long one.
     *
     * @param characters of that piece or part
     * @param ids so far, of all pieces that are whole; those that are put around the text are not among them
     */
    void encoded(int characters, int ids);
}
