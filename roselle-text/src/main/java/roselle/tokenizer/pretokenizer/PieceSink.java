package roselle.tokenizer.pretokenizer;

/** Receives pieces of text in order. */
@FunctionalInterface
public interface PieceSink {
    /**
     * Takes the piece {@code text[start, end)}.
     *
     * @param first whether the piece begins where the caller's text began
     */
    void accept(String text, int start, int end, boolean first);
}
