package roselle.sampling;

/** The tokens that may come next, one bit each; a grammar writes it, sampling reads it. */
public final class TokenMask {
    /** Forbids nothing. */
    public static final TokenMask ALL = new TokenMask(0);

    /** Token {@code t} is allowed where bit {@code t % 64} of word {@code t / 64} is set. */
    public final long[] words;

    /** A mask that allows none of {@code vocabulary} tokens yet; a mask of no words allows all. */
    public TokenMask(int vocabulary) {
        words = new long[(vocabulary + Long.SIZE - 1) / Long.SIZE];
    }

    public void allow(int token) {
        words[token / Long.SIZE] |= 1L << (token % Long.SIZE);
    }

    boolean isEverything() {
        return words.length == 0;
    }
}
