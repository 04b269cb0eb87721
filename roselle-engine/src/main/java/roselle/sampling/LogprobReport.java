package roselle.sampling;

import roselle.backend.step.SampledTokens;

/**
 * The log-probabilities of one position: the token there, and the likeliest ones; reused.
 *
 * <p>They are natural logarithms of the softmax of the raw logits, before penalties, bias, masks and temperature, as OpenAI
 * and vLLM report them.
 */
public final class LogprobReport {
    private final int[] ids = new int[SampledTokens.MAX_LOGPROBS];
    private final float[] values =
            new float[SampledTokens.MAX_LOGPROBS]; // raw logits while they are gathered, then log-probabilities
    private int count;
    private int wanted;
    private int chosenId;
    private float chosen;

    public int chosenId() {
        return chosenId;
    }

    /** The log-probability of the token at this position. */
    public float chosen() {
        return chosen;
    }

    /** How many of the likeliest tokens follow, in order; of two that are equally likely the lower id comes first. */
    public int count() {
        return count;
    }

    public int id(int index) {
        return ids[index];
    }

    public float logprob(int index) {
        return values[index];
    }

    void gather(float[] logits, int vocabulary, int most) {
        count = 0;
        wanted = Math.min(most, SampledTokens.MAX_LOGPROBS);
        float least = Float.NEGATIVE_INFINITY;
        for (int id = 0; wanted > 0 && id < vocabulary; id++) {
            if (logits[id] > least || count < wanted) {
                insert(id, logits[id]);
                least = count < wanted ? Float.NEGATIVE_INFINITY : values[count - 1];
            }
        }
    }

    private void insert(int id, float logit) {
        int at = count < wanted ? count++ : count - 1;
        while (at > 0 && values[at - 1] < logit) {
            values[at] = values[at - 1];
            ids[at] = ids[at - 1];
            at--;
        }
        values[at] = logit;
        ids[at] = id;
    }

    void normalize(double logSum) {
        for (int i = 0; i < count; i++) {
            values[i] = (float) (values[i] - logSum);
        }
    }

    void choose(int id, float logit, double logSum) {
        chosenId = id;
        chosen = (float) (logit - logSum);
    }

    void copyTo(SampledTokens tokens, int row) {
        tokens.chosen[row] = chosen;
        tokens.count[row] = count;
        System.arraycopy(ids, 0, tokens.ids, row * SampledTokens.MAX_LOGPROBS, count);
        System.arraycopy(values, 0, tokens.logprobs, row * SampledTokens.MAX_LOGPROBS, count);
    }
}
