package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * Chooses experts by their scores; ties and NaN go to the lower index. One thread's, with its memory.
 *
 * <p>The exponentials come as vectors or as their scalar twin; choosing among a few hundred numbers is the same code.
 */
final class RouteExperts {
    /** The part that exists twice. */
    interface Exponentials {
        /** Replaces each number by {@code exp(number - largest)} and returns the sum. */
        float softmaxWeights(float[] numbers, int count, float largest, float[] lanes);

        void sigmoid(float[] numbers, int count);
    }

    static final Exponentials VECTORS = new Exponentials() {
        @Override
        public float softmaxWeights(float[] numbers, int count, float largest, float[] lanes) {
            return VectorFunctions.softmaxWeights(numbers, count, largest, lanes);
        }

        @Override
        public void sigmoid(float[] numbers, int count) {
            VectorFunctions.sigmoid(numbers, count);
        }
    };

    private static final double SOFTPLUS_IS_LINEAR = 20;

    private final Exponentials exponentials;
    private final float[] lanes = new float[Lanes.COUNT];
    private float[] scores = new float[0]; // [experts], padded
    private float[] ranks = new float[0]; // [experts]
    private float[] weights = new float[0]; // [chosen], padded
    private float[] groupRanks = new float[0]; // [groups]
    private boolean[] kept = new boolean[0]; // [groups]

    RouteExperts(Exponentials exponentials) {
        this.exponentials = exponentials;
    }

    void rows(Rows logits, Router router, Routing routing, int[] tokens, int first, int end) {
        reserve(router);
        for (int r = first; r < end; r++) {
            score(logits, r, router);
            for (int e = 0; e < router.experts(); e++) {
                ranks[e] = scores[e] + number(router.correction(), e);
            }
            if (router.chosenGroups() < router.groups()) {
                keepBestGroups(router);
            }
            choose(router, routing, r, tokens);
            if (router.shared() != null) {
                share(router, router.shared(), logits, routing, r);
            }
        }
    }

    /** Makes the expert that every row has the last choice of one. */
    private static void share(Router router, Router.Shared shared, Rows logits, Routing routing, int row) {
        long at = (long) row * router.choices() + router.chosen();
        float weight = shared.weight();
        if (shared.gated()) {
            float logit = CpuBuffer.number(CpuBuffer.of(logits), CpuBuffer.row(logits, row) + router.experts());
            weight *= (float) (1 / (1 + Math.exp(-logit)));
        }
        CpuBuffer.of(routing.experts()).setAtIndex(JAVA_INT, at, router.experts());
        CpuBuffer.number(CpuBuffer.of(routing.weights()), at, weight);
    }

    private void reserve(Router router) {
        if (ranks.length < router.experts()) {
            scores = new float[Lanes.padded(router.experts())];
            ranks = new float[router.experts()];
        }
        if (weights.length < router.chosen()) {
            weights = new float[Lanes.padded(router.chosen())];
        }
        if (kept.length < router.groups()) {
            groupRanks = new float[router.groups()];
            kept = new boolean[router.groups()];
        }
    }

    private void score(Rows logits, int row, Router router) {
        long from = CpuBuffer.row(logits, row) * Float.BYTES;
        MemorySegment.copy(CpuBuffer.of(logits), JAVA_FLOAT, from, scores, 0, router.experts());
        switch (router.scoring()) {
            case SIGMOID -> exponentials.sigmoid(scores, router.experts());
            case ROOT_OF_SOFTPLUS -> rootsOfSoftplus(scores, router.experts());
            case SOFTMAX -> softmax(scores, router.experts());
            case SOFTMAX_OF_CHOSEN, SOFTMAX_OF_NEAR -> {}
        }
    }

    private static void rootsOfSoftplus(float[] numbers, int count) {
        for (int i = 0; i < count; i++) {
            double x = numbers[i];
            numbers[i] = (float) Math.sqrt(x > SOFTPLUS_IS_LINEAR ? x : Math.log1p(Math.exp(x)));
        }
    }

    private void softmax(float[] numbers, int count) {
        float largest = numbers[0];
        for (int i = 1; i < count; i++) {
            largest = Math.max(largest, numbers[i]);
        }
        float sum = exponentials.softmaxWeights(numbers, count, largest, lanes);
        for (int i = 0; i < count; i++) {
            numbers[i] /= sum;
        }
    }

    /** Leaves only the experts of the groups whose two best ranks add up to most. */
    private void keepBestGroups(Router router) {
        int size = router.experts() / router.groups();
        for (int g = 0; g < router.groups(); g++) {
            groupRanks[g] = twoBest(g * size, (g + 1) * size);
        }
        Arrays.fill(kept, false);
        for (int i = 0; i < router.chosenGroups(); i++) {
            int best = best(groupRanks, router.groups());
            kept[best] = true;
            groupRanks[best] = Float.NEGATIVE_INFINITY;
        }
        for (int g = 0; g < router.groups(); g++) {
            if (!kept[g]) {
                Arrays.fill(ranks, g * size, (g + 1) * size, Float.NEGATIVE_INFINITY);
            }
        }
    }

    private float twoBest(int from, int end) {
        float first = Float.NEGATIVE_INFINITY;
        float second = Float.NEGATIVE_INFINITY;
        for (int e = from; e < end; e++) {
            if (ranks[e] > first) {
                second = first;
                first = ranks[e];
            } else if (ranks[e] > second) {
                second = ranks[e];
            }
        }
        return second == Float.NEGATIVE_INFINITY ? first : first + second;
    }

    private void choose(Router router, Routing routing, int row, int[] tokens) {
        int chosen = router.chosen();
        long at = (long) row * router.choices();
        float sum = 0;
        for (int j = 0; j < chosen; j++) {
            int expert = router.ofTokens() == null
                    ? best(ranks, router.experts())
                    : (int) number(router.ofTokens(), tokens[row] * chosen + j);
            boolean isOfNear = router.scoring() == Router.Scoring.SOFTMAX_OF_NEAR;
            weights[j] = isOfNear ? amongNear(expert, router) : scores[expert];
            ranks[expert] = Float.NEGATIVE_INFINITY;
            CpuBuffer.of(routing.experts()).setAtIndex(JAVA_INT, at + j, expert);
            sum += weights[j];
        }
        if (router.scoring() == Router.Scoring.SOFTMAX_OF_CHOSEN) {
            softmax(weights, chosen);
        } else if (router.normalizes()) {
            for (int j = 0; j < chosen; j++) {
                weights[j] /= sum + 1e-20f;
            }
        }
        for (int j = 0; j < chosen; j++) {
            float weight = weights[j] * router.scale();
            if (router.expertScales() != null) {
                weight *= number(
                        router.expertScales(), CpuBuffer.of(routing.experts()).getAtIndex(JAVA_INT, at + j));
            }
            CpuBuffer.number(CpuBuffer.of(routing.weights()), at + j, weight);
        }
    }

    /** The weight of the best logit in the softmax over those that are left and near it. */
    private float amongNear(int best, Router router) {
        double sum = 0;
        for (int e = 0; e < router.experts(); e++) {
            float size = Math.max(Math.abs(scores[e]), scores[best]);
            boolean isNear = !((scores[best] - scores[e]) / size > router.nearness());
            if (isNear && ranks[e] != Float.NEGATIVE_INFINITY) {
                sum += Math.exp(scores[e] - scores[best]);
            }
        }
        return (float) (1 / sum);
    }

    private static int best(float[] numbers, int count) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            if (numbers[i] > numbers[best]) {
                best = i;
            }
        }
        return best;
    }

    private static float number(@Nullable Buffer buffer, int index) {
        return buffer == null ? 0f : CpuBuffer.number(CpuBuffer.of(buffer), index);
    }
}
