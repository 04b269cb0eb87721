package roselle.execution;

import roselle.backend.step.SampledTokens;
import roselle.sampling.LogprobReport;

/** The log-probabilities of one position as a value: the token there first, and then the likeliest ones. */
public final class TokenScores {
    private final int[] ids;
    private final float[] logprobs;

    TokenScores(LogprobReport report) {
        int count = 1 + report.count();
        ids = new int[count];
        logprobs = new float[count];
        ids[0] = report.chosenId();
        logprobs[0] = report.chosen();
        for (int index = 1; index < count; index++) {
            ids[index] = report.id(index - 1);
            logprobs[index] = report.logprob(index - 1);
        }
    }

    /** What was sampled from a row. */
    TokenScores(SampledTokens tokens, int row) {
        int count = 1 + tokens.count[row];
        ids = new int[count];
        logprobs = new float[count];
        ids[0] = tokens.token[row];
        logprobs[0] = tokens.chosen[row];
        int from = row * SampledTokens.MAX_LOGPROBS;
        System.arraycopy(tokens.ids, from, ids, 1, count - 1);
        System.arraycopy(tokens.logprobs, from, logprobs, 1, count - 1);
    }

    /** The token of the position and those reported beside it, which may name it again. */
    public int count() {
        return ids.length;
    }

    public int id(int index) {
        return ids[index];
    }

    /** Natural logarithm of the probability. */
    public float logprob(int index) {
        return logprobs[index];
    }
}
