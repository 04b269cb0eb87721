package roselle.tokenizer;

/** Hears how far the encoding of a text is, on the thread that encodes; it may wait there, or end the encoding by throwing. */
@FunctionalInterface
public interface EncodeProgress {
    /** Hears nothing. */
    EncodeProgress NONE = (_, _) -> {};

    /**
     * Another piece was encoded.
     *
     * @param characters of that piece
     * @param ids so far, of all pieces; those that are put around the text are not among them
     */
    void encoded(int characters, int ids);
}
