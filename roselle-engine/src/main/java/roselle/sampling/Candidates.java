package roselle.sampling;

import java.util.Arrays;
import roselle.backend.step.SamplingRows;

/**
 * The tokens still in play for one row, in ascending order of id, with their weights relative to the likeliest.
 *
 * <p>Each filter narrows them in place: temperature makes the weights, then top-k, top-p, min-p and typical, each over what
 * the one before it left, renormalized. Of equally likely tokens the lower id stays longer.
 */
final class Candidates {
    private final int[] ids;
    private final int[] keys; // the order of tokens: that of their logits, or of their typicality
    private final double[] weights; // the likeliest has 1
    private final double[] ones;
    private final RankSelection selection = new RankSelection();
    private int count;

    Candidates(int vocabulary) {
        ids = new int[vocabulary];
        keys = new int[vocabulary];
        weights = new double[vocabulary];
        ones = new double[vocabulary];
        Arrays.fill(ones, 1);
    }

    int count() {
        return count;
    }

    int id(int index) {
        return ids[index];
    }

    double weight(int index) {
        return weights[index];
    }

    /** Whether a row has a filter; without one all tokens stay in play. */
    static boolean isFiltered(SamplingRows rows, int row) {
        return rows.topK[row] > 0 || rows.topP[row] < 1 || rows.minP[row] > 0 || rows.typicalP[row] < 1;
    }

    /** Takes in every token that is not forbidden and filters them; {@code max} is the largest logit. */
    void fill(float[] logits, float max, SamplingRows rows, int row) {
        takeAllowed(logits);
        if (rows.topK[row] > 0 && rows.topK[row] < count) {
            selection.select(keys, ones, count, rows.topK[row]);
            keepSelected(ones, rows.topK[row]);
        }
        weigh(logits, max, rows.temperature[row]);
        if (rows.topP[row] < 1) {
            double target = rows.topP[row] * total();
            selection.select(keys, weights, count, target);
            keepSelected(weights, target);
        }
        if (rows.minP[row] > 0) {
            keepLikely(rows.minP[row]);
        }
        if (rows.typicalP[row] < 1) {
            keepTypical(rows.typicalP[row]);
        }
    }

    private void takeAllowed(float[] logits) {
        int kept = 0;
        for (int id = 0; id < logits.length; id++) {
            ids[kept] = id;
            keys[kept] = RankSelection.key(logits[id]);
            kept += logits[id] == Float.NEGATIVE_INFINITY ? 0 : 1;
        }
        count = kept;
    }

    private void weigh(float[] logits, float max, double temperature) {
        for (int i = 0; i < count; i++) {
            weights[i] = ExponentialRace.weight(logits[ids[i]], max, temperature);
        }
    }

    private double total() {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += weights[i];
        }
        return sum;
    }

    /** Keeps what {@link RankSelection} selected; ties at its threshold stay, in order, until {@code target} is reached. */
    private void keepSelected(double[] masses, double target) {
        int threshold = selection.threshold();
        double mass = selection.massAbove();
        int kept = 0;
        for (int i = 0; i < count; i++) {
            boolean isTie = keys[i] == threshold;
            if (keys[i] > threshold || (isTie && mass < target)) {
                mass += isTie ? masses[i] : 0;
                keep(i, kept++);
            }
        }
        count = kept;
    }

    private void keep(int from, int to) {
        ids[to] = ids[from];
        keys[to] = keys[from];
        weights[to] = weights[from];
    }

    private void keepLikely(double share) {
        double largest = 0;
        for (int i = 0; i < count; i++) {
            largest = Math.max(largest, weights[i]);
        }
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (weights[i] >= share * largest) {
                keep(i, kept++);
            }
        }
        count = kept;
    }

    /** Locally typical sampling (arXiv 2202.00666): those whose surprise is nearest to the entropy, up to a mass. */
    private void keepTypical(double share) {
        double total = total();
        double entropy = 0;
        for (int i = 0; i < count; i++) {
            double probability = weights[i] / total;
            entropy -= probability * StrictMath.log(probability);
        }
        for (int i = 0; i < count; i++) {
            double surprise = -StrictMath.log(weights[i] / total);
            keys[i] = RankSelection.key((float) (0.0 - Math.abs(surprise - entropy)) + 0f);
        }
        selection.select(keys, weights, count, share * total);
        keepSelected(weights, share * total);
    }

    /** Lets them take part in a race. */
    void enter(ExponentialRace race) {
        for (int i = 0; i < count; i++) {
            race.enter(ids[i], weights[i]);
        }
    }
}
