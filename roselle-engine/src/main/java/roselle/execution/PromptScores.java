package roselle.execution;

import org.jspecify.annotations.Nullable;

/** The log-probabilities of a prompt's tokens, collected chunk by chunk; the first token has none. */
public final class PromptScores {
    private final int[] ids;
    private final @Nullable TokenScores[] scores;

    public PromptScores(int[] sequence, int promptLength) {
        ids = java.util.Arrays.copyOf(sequence, promptLength);
        scores = new @Nullable TokenScores[promptLength];
    }

    void put(int position, TokenScores score) {
        scores[position] = score;
    }

    public int length() {
        return ids.length;
    }

    public int id(int position) {
        return ids[position];
    }

    /** The scores of the token at a position, or null where it was not scored. */
    public @Nullable TokenScores at(int position) {
        return scores[position];
    }
}
