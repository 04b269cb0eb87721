package roselle.conversation.parse;

/** Reads what stands behind the mark of a call, character by character, and tells a {@link CallSink} of it. */
public interface CallReader {
    /** What one more character did. */
    enum Result {
        /** It was taken, and more may follow. */
        MORE,
        /** It was taken, and nothing more follows. */
        DONE,
        /** It was not taken: the calls, one at least, ended before it. */
        DONE_BEFORE,
        /** It was not taken: this is not, or no longer, a call. */
        FAILED
    }

    Result accept(char letter);

    /** What was taken before {@code DONE_BEFORE} and is part of no call, of what came before the last call ended. */
    default String leftover() {
        return "";
    }

    /** The answer is over: ends a call whose arguments have begun. */
    void finish();
}
