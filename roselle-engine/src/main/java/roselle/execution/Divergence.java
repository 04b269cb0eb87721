package roselle.execution;

import java.util.Arrays;

/**
 * How far a model's distributions of the next token are from a reference's, over the positions of a text.
 *
 * <p>Of each position: the loss {@code -ln p} of the token that follows, of both; the divergence {@code sum p ln(p / q)} of the model
 * {@code q} from the reference {@code p} (Kullback and Leibler, 1951); and whether both have the same likeliest token.
 */
public final class Divergence {
    private double[] divergences = new double[1024]; // by position, from the first
    private int positions;
    private int agreeing;
    private double referenceLoss;
    private double loss;

    /** Adds a position with the logits of both and the token that follows. */
    void add(float[] reference, float[] model, int next) {
        double referenceSum = logarithmOfSum(reference);
        double sum = logarithmOfSum(model);
        double divergence = 0;
        int referenceTop = 0;
        int top = 0;
        for (int i = 0; i < reference.length; i++) {
            double logProbability = reference[i] - referenceSum;
            double probability = Math.exp(logProbability);
            if (probability > 0) { // what is impossible for the reference adds nothing
                divergence += probability * (logProbability - (model[i] - sum));
            }
            referenceTop = reference[i] > reference[referenceTop] ? i : referenceTop;
            top = model[i] > model[top] ? i : top;
        }
        add(referenceSum - reference[next], sum - model[next], Math.max(0, divergence), top == referenceTop);
    }

    private void add(double ofReference, double ofModel, double divergence, boolean agrees) {
        if (positions == divergences.length) {
            divergences = Arrays.copyOf(divergences, 2 * positions);
        }
        divergences[positions++] = divergence;
        agreeing += agrees ? 1 : 0;
        referenceLoss += ofReference;
        loss += ofModel;
    }

    private static double logarithmOfSum(float[] logits) {
        float largest = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            largest = Math.max(largest, logit);
        }
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit - largest);
        }
        return largest + Math.log(sum);
    }

    /** Positions that were compared. */
    public int positions() {
        return positions;
    }

    public double referencePerplexity() {
        return Math.exp(referenceLoss / positions);
    }

    public double perplexity() {
        return Math.exp(loss / positions);
    }

    /** The mean divergence, in nats. */
    public double mean() {
        return Arrays.stream(divergences, 0, positions).sum() / positions;
    }

    /** The divergence that a part of the positions does not exceed; of all of them the largest. */
    public double quantile(double part) {
        double[] ascending = Arrays.copyOf(divergences, positions);
        Arrays.sort(ascending);
        return ascending[Math.clamp((int) Math.ceil(part * positions) - 1, 0, positions - 1)];
    }

    /** The part of the positions where both have the same likeliest token. */
    public double agreement() {
        return (double) agreeing / positions;
    }
}
