package roselle.backend.reference;

import java.util.Arrays;
import java.util.stream.IntStream;
import roselle.backend.memory.Buffer;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;

/** The experts of one row, by its logits. */
final class ReferenceRouting {
    private final Router router;
    private final double[] scores;
    private final double[] ranks;
    private final double sharedWeight;

    ReferenceRouting(Router router, float[] logits) {
        this.router = router;
        Router.Shared shared = router.shared();
        double gate = shared == null || !shared.gated() ? 1 : 1 / (1 + Math.exp(-logits[router.experts()]));
        sharedWeight = shared == null ? 0 : shared.weight() * gate;
        scores = new double[router.experts()];
        ranks = new double[router.experts()];
        for (int e = 0; e < scores.length; e++) {
            scores[e] = switch (router.scoring()) {
                case SIGMOID -> 1 / (1 + Math.exp(-logits[e]));
                case ROOT_OF_SOFTPLUS -> Math.sqrt(Math.log1p(Math.exp(logits[e])));
                case SOFTMAX, SOFTMAX_OF_CHOSEN, SOFTMAX_OF_NEAR -> logits[e];
            };
        }
        if (router.scoring() == Router.Scoring.SOFTMAX) {
            softmax(scores);
        }
        for (int e = 0; e < scores.length; e++) {
            ranks[e] = scores[e] + (router.correction() == null ? 0 : ReferenceBuffer.of(router.correction())[e]);
        }
    }

    private static void softmax(double[] numbers) {
        double largest = Arrays.stream(numbers).max().orElseThrow();
        Arrays.setAll(numbers, i -> Math.exp(numbers[i] - largest));
        double sum = Arrays.stream(numbers).sum();
        Arrays.setAll(numbers, i -> numbers[i] / sum);
    }

    /** Stores the chosen experts and their weights. */
    void choose(Routing routing, int row, int token) {
        if (router.chosenGroups() < router.groups()) {
            keepBestGroups();
        }
        int[] experts = router.ofTokens() == null ? best(ranks, router.chosen()) : ofToken(router.ofTokens(), token);
        double[] weights = Arrays.stream(experts).mapToDouble(e -> scores[e]).toArray();
        if (router.scoring() == Router.Scoring.SOFTMAX_OF_CHOSEN) {
            softmax(weights);
        } else if (router.scoring() == Router.Scoring.SOFTMAX_OF_NEAR) {
            Arrays.setAll(weights, j -> amongNear(experts, j));
        } else if (router.normalizes()) {
            double sum = Arrays.stream(weights).sum();
            Arrays.setAll(weights, j -> weights[j] / sum);
        }
        for (int j = 0; j < experts.length; j++) {
            store(routing, row, j, experts[j], weights[j] * router.scale() * scale(experts[j]));
        }
        if (router.shared() != null) {
            store(routing, row, router.chosen(), router.experts(), sharedWeight);
        }
    }

    private static void store(Routing routing, int row, int choice, int expert, double weight) {
        int at = row * routing.chosen() + choice;
        ReferenceBuffer.of(routing.experts())[at] = expert;
        ReferenceBuffer.of(routing.weights())[at] = (float) weight;
    }

    /** The weight of a choice among those that follow it and are near. */
    private double amongNear(int[] experts, int choice) {
        double best = scores[experts[choice]];
        double sum = 0;
        for (int e = 0; e < scores.length; e++) {
            int expert = e;
            boolean isLeft = Arrays.stream(experts).limit(choice).noneMatch(earlier -> earlier == expert);
            boolean isNear = (best - scores[e]) / Math.max(Math.abs(scores[e]), best) <= router.nearness();
            sum += isLeft && isNear ? Math.exp(scores[e] - best) : 0;
        }
        return 1 / sum;
    }

    private int[] ofToken(Buffer table, int token) {
        float[] all = ReferenceBuffer.of(table);
        return IntStream.range(0, router.chosen())
                .map(j -> (int) all[token * router.chosen() + j])
                .toArray();
    }

    private double scale(int expert) {
        return router.expertScales() == null ? 1 : ReferenceBuffer.of(router.expertScales())[expert];
    }

    /** Leaves the experts of the groups whose two best add up to most. */
    private void keepBestGroups() {
        int size = router.experts() / router.groups();
        double[] sums = IntStream.range(0, router.groups())
                .mapToDouble(g -> {
                    double[] group = Arrays.copyOfRange(ranks, g * size, (g + 1) * size);
                    return Arrays.stream(best(group, Math.min(2, size)))
                            .mapToDouble(e -> group[e])
                            .sum();
                })
                .toArray();
        int[] kept = best(sums, router.chosenGroups());
        for (int e = 0; e < ranks.length; e++) {
            int group = e / size;
            if (Arrays.stream(kept).noneMatch(g -> g == group)) {
                ranks[e] = Double.NEGATIVE_INFINITY;
            }
        }
    }

    /** The places of the largest numbers, the largest first and the lower place where two are equal. */
    private static int[] best(double[] numbers, int count) {
        return IntStream.range(0, numbers.length)
                .boxed()
                .sorted((a, b) -> Double.compare(numbers[b], numbers[a]))
                .limit(count)
                .mapToInt(Integer::intValue)
                .toArray();
    }
}
