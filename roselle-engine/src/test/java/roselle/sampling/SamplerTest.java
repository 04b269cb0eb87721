package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import roselle.batch.SamplingPlan;
import roselle.sampling.OneRow.History;

final class SamplerTest {
    private static final long SEED = 20_261_101;

    private static float[] randomLogits(SplittableRandom random, int vocabulary, double spread) {
        float[] logits = new float[vocabulary];
        for (int i = 0; i < vocabulary; i++) {
            logits[i] = (float) (random.nextGaussian() * spread);
        }
        return logits;
    }

    private static int sample(float[] logits, SamplingPlan plan, int position) {
        return sample(new Sampler(logits.length), logits, plan, position);
    }

    private static int sample(Sampler sampler, float[] logits, SamplingPlan plan, int position) {
        return new OneRow(sampler).sample(MemorySegment.ofArray(logits), 0, plan, History.ofPrompt(position));
    }

    @Test
    void greedyTakesTheLowestOfEqualIds() {
        float[] logits = {1, 7, -0f, 7, 0f};
        assertThat(sample(logits, Plans.greedy(5), 3)).isEqualTo(1);
        assertThat(sample(new float[] {-0f, 0f}, Plans.greedy(2), 3)).isZero();
    }

    @Test
    void aBrokenRowFailsWithItsPosition() {
        for (float broken : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
            for (int at : new int[] {0, 1, 16, 36}) {
                float[] logits = new float[37];
                logits[at] = broken;
                var sampler = new Sampler(37);
                int token = sample(sampler, logits, Plans.greedy(37), 12);
                assertThat(token).isEqualTo(Sampler.FAILED);
                assertThat(sampler.failure()).contains("at position 12");
                assertThat(sampler.score(MemorySegment.ofArray(logits), 0, 5, 3, 0))
                        .isFalse();
            }
        }
        float[] nothing = new float[3];
        java.util.Arrays.fill(nothing, Float.NEGATIVE_INFINITY);
        assertThat(sample(nothing, Plans.greedy(3), 1)).isEqualTo(Sampler.FAILED);
    }

    @Test
    void overflowingPenaltiesFailInsteadOfDrawingNonsense() {
        var plans = new Plans();
        plans.repetition = 0.01;
        var sampler = new Sampler(2);
        int token = sample(sampler, new float[] {3e38f, 0}, plans.plan(2), 1);
        assertThat(token).isEqualTo(Sampler.FAILED);
        assertThat(sampler.failure()).contains("infinite at position 1");
    }

    @Test
    void aMaskForbidsAndAnEmptyMaskFails() {
        float[] logits = randomLogits(new SplittableRandom(SEED), 130, 1);
        var sampler = new Sampler(130);
        var one = new OneRow(sampler);
        MemorySegment row = MemorySegment.ofArray(logits);
        var history = History.ofPrompt(4);
        long[] mask = OneRow.mask(130);
        assertThat(one.sample(row, 0, Plans.greedy(130), history, mask)).isEqualTo(Sampler.FAILED);
        assertThat(sampler.failure()).contains("no token is allowed at position 4");
        mask = OneRow.mask(130, 129);
        assertThat(one.sample(row, 0, Plans.greedy(130), history, mask)).isEqualTo(129);
        assertThat(one.sample(row, 0, new Plans().plan(130), history, mask)).isEqualTo(129);
    }

    @Test
    void minTokensForbidsStopTokensUntilEnoughAreGenerated() {
        var plans = new Plans();
        plans.temperature = 0;
        plans.minTokens = 2;
        plans.stopIds = Set.of(1);
        SamplingPlan plan = plans.plan(3);
        MemorySegment row = MemorySegment.ofArray(new float[] {0, 9, 1});
        var one = new OneRow(new Sampler(3));
        var oneGenerated = new History(new int[5], 4, 5);
        assertThat(one.sample(row, 0, plan, oneGenerated)).isEqualTo(2);
        var twoGenerated = new History(new int[6], 4, 6);
        assertThat(one.sample(row, 0, plan, twoGenerated)).isEqualTo(1);
    }

    @Test
    void aBiasMovesItsTokenOnly() {
        var plans = new Plans();
        plans.temperature = 0;
        plans.bias = Map.of(2, 100f, 0, -100f);
        assertThat(sample(new float[] {50, 1, -40}, plans.plan(3), 1)).isEqualTo(2);
    }

    @Test
    void aDrawDependsOnSeedAndPositionOnly() {
        float[] logits = randomLogits(new SplittableRandom(SEED), 1000, 1);
        var plan = new Plans().plan(1000);
        var busy = new Sampler(1000);
        Set<Integer> drawn = new HashSet<>();
        for (int position = 1; position < 50; position++) {
            int alone = sample(logits, plan, position);
            sample(busy, logits, plan, position + 7);
            assertThat(sample(busy, logits, plan, position)).isEqualTo(alone);
            drawn.add(alone);
        }
        assertThat(drawn.size()).isGreaterThan(30);
    }

    @Test
    void aRowOfManyIsReadWhereItStands() {
        float[] rows = {5, 0, 0, 0, 5, 0, 0, 0, 5};
        var one = new OneRow(new Sampler(3));
        for (int row = 0; row < 3; row++) {
            assertThat(one.sample(MemorySegment.ofArray(rows), row, Plans.greedy(3), History.ofPrompt(2)))
                    .isEqualTo(row);
        }
    }

    @Test
    void logprobsAreOfTheRawLogitsWhateverIsSampled() {
        float[] logits = randomLogits(new SplittableRandom(SEED), 300, 3);
        var plans = new Plans();
        plans.temperature = 0;
        plans.bias = Map.of(77, 100f);
        plans.topLogprobs = 20;
        var sampler = new Sampler(300);
        int token = sample(sampler, logits, plans.plan(300), 3);
        assertThat(token).isEqualTo(77);
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit);
        }
        LogprobReport report = sampler.report();
        assertThat((double) report.chosen()).isCloseTo(logits[77] - Math.log(sum), within(1e-5));
        List<Integer> order = descending(logits);
        assertThat(report.count()).isEqualTo(20);
        for (int i = 0; i < 20; i++) {
            assertThat(report.id(i)).isEqualTo(order.get(i));
            assertThat((double) report.logprob(i)).isCloseTo(logits[order.get(i)] - Math.log(sum), within(1e-5));
        }
        assertThat(sampler.score(MemorySegment.ofArray(logits), 0, 9, 5, 2)).isTrue();
        assertThat(report.chosenId()).isEqualTo(5);
        assertThat((double) report.chosen()).isCloseTo(logits[5] - Math.log(sum), within(1e-5));
    }

    private static List<Integer> descending(float[] logits) {
        List<Integer> ids = new ArrayList<>();
        for (int id = 0; id < logits.length; id++) {
            ids.add(id);
        }
        ids.sort(Comparator.comparingDouble((Integer id) -> -logits[id]).thenComparingInt(id -> id));
        return ids;
    }

    /** Top-k and top-p by sorting everything, over logits that often tie. */
    @Test
    void selectionKeepsWhatSortingWouldKeep() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < 400; round++) {
            int vocabulary = 1 + random.nextInt(600);
            float[] logits = randomLogits(random, vocabulary, 2);
            for (int i = 0; i < vocabulary; i++) {
                logits[i] = random.nextInt(3) == 0 ? Math.round(logits[i]) : logits[i];
            }
            var plans = new Plans();
            plans.topK = random.nextInt(2) == 0 ? 0 : 1 + random.nextInt(vocabulary);
            plans.topP = random.nextInt(2) == 0 ? 1 : 0.01 + 0.98 * random.nextDouble();
            plans.temperature = 0.1 + 2 * random.nextDouble();
            var one = new OneRow(new Sampler(vocabulary));
            one.sample(MemorySegment.ofArray(logits), 0, plans.plan(vocabulary), History.ofPrompt(1));
            assertThat(kept(one.candidates())).as("round %d", round).isEqualTo(sorted(logits, plans));
        }
    }

    private static List<Integer> kept(Candidates candidates) {
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < candidates.count(); i++) {
            ids.add(candidates.id(i));
        }
        return ids;
    }

    private static List<Integer> sorted(float[] logits, Plans plans) {
        List<Integer> order = descending(logits);
        if (plans.topK > 0) {
            order = order.subList(0, Math.min(plans.topK, order.size()));
        }
        double max = logits[order.getFirst()];
        double total = 0;
        for (int id : order) {
            total += Math.exp((logits[id] - max) / plans.temperature);
        }
        List<Integer> ids = new ArrayList<>();
        double mass = 0;
        for (int id : order) {
            if (plans.topP == 1 || mass < plans.topP * total) {
                ids.add(id);
            }
            mass += Math.exp((logits[id] - max) / plans.temperature);
        }
        ids.sort(Comparator.naturalOrder());
        return ids;
    }

    /** Chi-square of 20,000 draws against the softmax; 3.29 standard deviations, one false alarm in a thousand seeds. */
    @Test
    void drawsFollowTheDistribution() {
        var random = new SplittableRandom(SEED);
        for (double temperature : new double[] {0.5, 1, 1.7}) {
            float[] logits = randomLogits(random, 24, 1);
            var plans = new Plans();
            plans.temperature = temperature;
            plans.seed = random.nextLong();
            assertThat(chiSquare(logits, plans, 20_000))
                    .as("temperature %s", temperature)
                    .isLessThan(3.29);
        }
    }

    @Test
    void filteredDrawsFollowTheRenormalizedDistribution() {
        var random = new SplittableRandom(SEED + 1);
        float[] logits = randomLogits(random, 64, 1.5);
        var plans = new Plans();
        plans.topK = 20;
        plans.topP = 0.8;
        plans.seed = 5;
        assertThat(chiSquare(logits, plans, 20_000)).isLessThan(3.29);
    }

    /** How many standard deviations chi-square lies above its mean, over the tokens that sorting says are kept. */
    private static double chiSquare(float[] logits, Plans plans, int draws) {
        List<Integer> kept = sorted(logits, plans);
        double total = 0;
        for (int id : kept) {
            total += Math.exp(logits[id] / plans.temperature);
        }
        int[] counts = new int[logits.length];
        var one = new OneRow(new Sampler(logits.length));
        SamplingPlan plan = plans.plan(logits.length);
        int[] ids = new int[draws + 1];
        for (int position = 1; position <= draws; position++) {
            counts[one.sample(MemorySegment.ofArray(logits), 0, plan, new History(ids, 1, position))]++;
        }
        double sum = 0;
        for (int id : kept) {
            double expected = draws * Math.exp(logits[id] / plans.temperature) / total;
            sum += (counts[id] - expected) * (counts[id] - expected) / expected;
            counts[id] = 0;
        }
        assertThat(counts).as("tokens filtered out are never drawn").containsOnly(0);
        int freedom = kept.size() - 1;
        return (sum - freedom) / Math.sqrt(2.0 * freedom);
    }

    @Test
    void nothingIsAllocatedPerToken() {
        var bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        float[] logits = randomLogits(new SplittableRandom(SEED), 5000, 2);
        MemorySegment row = MemorySegment.ofArray(logits);
        var plans = new Plans();
        plans.topK = 50;
        plans.topP = 0.9;
        plans.minP = 0.01;
        plans.typicalP = 0.9;
        plans.repetition = 1.1;
        plans.presence = 0.5;
        plans.topLogprobs = 20;
        SamplingPlan plan = plans.plan(5000);
        var one = new OneRow(new Sampler(5000));
        var history = History.ofPrompt(100);
        long before = 0;
        for (int i = 0; i < 400; i++) {
            if (i == 200) {
                before = bean.getCurrentThreadAllocatedBytes();
            }
            one.sample(row, 0, plan, history);
        }
        assertThat(bean.getCurrentThreadAllocatedBytes() - before).isLessThan(200 * 16);
    }

    @Test
    void theSmallestTemperatureIsStillGreedy() {
        var plans = new Plans();
        plans.temperature = Double.MIN_VALUE;
        assertThat(sample(new float[] {1, 2, 1.999f}, plans.plan(3), 1)).isEqualTo(1);
    }
}
