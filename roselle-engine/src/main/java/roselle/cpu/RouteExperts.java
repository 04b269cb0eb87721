package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.Buffer;
import roselle.backend.Router;
import roselle.backend.Routing;
import roselle.backend.Rows;

/** Chooses experts by their scores; ties and NaN go to the lower index. */
final class RouteExperts {
    private RouteExperts() {}

    static void scalar(Rows logits, Router router, Routing routing, int first, int end) {
        var scores = new float[router.experts()];
        var ranks = new float[router.experts()];
        for (int r = first; r < end; r++) {
            scores(logits, r, router, scores);
            for (int e = 0; e < scores.length; e++) {
                ranks[e] = scores[e] + number(router.correction(), e);
            }
            if (router.chosenGroups() < router.groups()) {
                keepBestGroups(router, ranks);
            }
            choose(router, routing, r, scores, ranks);
        }
    }

    private static void scores(Rows logits, int row, Router router, float[] scores) {
        MemorySegment source = CpuBuffer.of(logits);
        long from = CpuBuffer.row(logits, row);
        for (int e = 0; e < scores.length; e++) {
            float logit = CpuBuffer.number(source, from + e);
            scores[e] = router.scoring() == Router.Scoring.SIGMOID ? (float) Functions.sigmoid(logit) : logit;
        }
        if (router.scoring() == Router.Scoring.SOFTMAX) {
            softmax(scores, scores.length);
        }
    }

    private static void softmax(float[] numbers, int count) {
        float largest = numbers[0];
        for (int i = 1; i < count; i++) {
            largest = Math.max(largest, numbers[i]);
        }
        float sum = 0;
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) Math.exp(numbers[i] - largest);
            sum += numbers[i];
        }
        for (int i = 0; i < count; i++) {
            numbers[i] /= sum;
        }
    }

    /** Leaves only the experts of the groups whose two best ranks add up to most. */
    private static void keepBestGroups(Router router, float[] ranks) {
        int size = router.experts() / router.groups();
        var sums = new float[router.groups()];
        for (int g = 0; g < sums.length; g++) {
            sums[g] = twoBest(ranks, g * size, (g + 1) * size);
        }
        var kept = new boolean[router.groups()];
        for (int i = 0; i < router.chosenGroups(); i++) {
            int best = best(sums);
            kept[best] = true;
            sums[best] = Float.NEGATIVE_INFINITY;
        }
        for (int g = 0; g < kept.length; g++) {
            if (!kept[g]) {
                Arrays.fill(ranks, g * size, (g + 1) * size, Float.NEGATIVE_INFINITY);
            }
        }
    }

    private static float twoBest(float[] ranks, int from, int end) {
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

    private static void choose(Router router, Routing routing, int row, float[] scores, float[] ranks) {
        var weights = new float[router.chosen()];
        float sum = 0;
        for (int j = 0; j < weights.length; j++) {
            int expert = best(ranks);
            ranks[expert] = Float.NEGATIVE_INFINITY;
            long at = (long) row * router.chosen() + j;
            CpuBuffer.of(routing.experts()).setAtIndex(JAVA_INT, at, expert);
            weights[j] = scores[expert];
            sum += weights[j];
        }
        if (router.scoring() == Router.Scoring.SOFTMAX_OF_CHOSEN) {
            softmax(weights, weights.length);
        } else if (router.normalizes()) {
            for (int j = 0; j < weights.length; j++) {
                weights[j] /= sum + 1e-20f;
            }
        }
        for (int j = 0; j < weights.length; j++) {
            long at = (long) row * router.chosen() + j;
            CpuBuffer.number(CpuBuffer.of(routing.weights()), at, weights[j] * router.scale());
        }
    }

    private static int best(float[] numbers) {
        int best = 0;
        for (int i = 1; i < numbers.length; i++) {
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
