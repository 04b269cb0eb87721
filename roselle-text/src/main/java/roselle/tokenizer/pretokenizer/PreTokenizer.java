package roselle.tokenizer.pretokenizer;

/** Cuts text into pieces that the model never merges across; may rewrite characters. Thread-safe. */
@FunctionalInterface
public interface PreTokenizer {
    /** The whole text is one piece. */
    PreTokenizer NONE = new PreTokenizer() {
        @Override
        public void split(String text, int start, int end, boolean first, PieceSink sink) {
            sink.accept(text, start, end, first);
        }

        @Override
        public boolean keepsText() {
            return true;
        }
    };

    /** How many times as long as its text the pieces may be. */
    default int growth() {
        return 1;
    }

    /**
     * Hands the pieces of {@code text[start, end)} to the sink in order. What lies outside the range does not exist for
     * anchors and look-around. Empty pieces are not handed on.
     *
     * @param first whether the range begins where the caller's text began (no token and no piece before it)
     */
    void split(String text, int start, int end, boolean first, PieceSink sink);

    /** Whether every character of a text is in a piece, as it is or spelled with more characters. */
    default boolean keepsText() {
        return false;
    }
}
