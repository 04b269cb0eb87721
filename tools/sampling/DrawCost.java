import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import roselle.api.GenerationRequest;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.batch.SamplingPlan;
import roselle.sampling.Sampler;

/** Times the host's sampler: java -cp CLASSES DrawCost.java; microseconds of CPU time a row, the least of 9 rounds, as CSV. */
final class DrawCost {
    private static final int ROWS = 16;
    private static final int ROUNDS = 9;

    private record Kind(String name, double temperature, int topK, double topP) {}

    private static final List<Kind> KINDS = List.of(
            new Kind("greedy", 0, 0, 1),
            new Kind("temperature 1", 1, 0, 1),
            new Kind("temperature 0.7", 0.7, 0, 1),
            new Kind("top-k 40", 1, 40, 1),
            new Kind("top-p 0.9", 1, 0, 0.9),
            new Kind("top-k 40 top-p 0.9", 1, 40, 0.9));

    private DrawCost() {}

    public static void main(String[] arguments) {
        System.out.println("vocabulary,kind,microseconds");
        for (int warming = 0; warming < 2; warming++) {
            for (int vocabulary : new int[] {2048, 32_000, 151_936}) {
                for (Kind kind : KINDS) {
                    double micros = time(vocabulary, kind);
                    if (warming == 1) {
                        System.out.printf("%d,%s,%.1f%n", vocabulary, kind.name(), micros);
                    }
                }
            }
        }
    }

    /** Logits as models have them: a bell with a few tokens far above. */
    private static float[] logits(int vocabulary) {
        var random = new Random(7);
        var logits = new float[ROWS * vocabulary];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) (2 * random.nextGaussian());
        }
        for (int row = 0; row < ROWS; row++) {
            for (int i = 0; i < 20; i++) {
                logits[row * vocabulary + random.nextInt(vocabulary)] = (float) (14 - i * random.nextDouble());
            }
        }
        return logits;
    }

    private static double time(int vocabulary, Kind kind) {
        MemorySegment logits = MemorySegment.ofArray(logits(vocabulary));
        var request = GenerationRequest.builder()
                .tokens(0)
                .temperature(kind.temperature())
                .topK(kind.topK())
                .topP(kind.topP())
                .maxTokens(1 << 20)
                .build();
        var plan = SamplingPlan.of(request, new int[0], vocabulary, 5, 0);
        var sampler = new Sampler(vocabulary);
        var rows = new SamplingRows(1, 0);
        var tokens = new SampledTokens(1);
        int repeats = Math.max(1, 4_000_000 / ROWS / vocabulary);
        var bean = java.lang.management.ManagementFactory.getThreadMXBean();
        var times = new double[ROUNDS];
        int position = 0;
        int[] history = new int[ROWS * repeats * ROUNDS + 1];
        for (int round = 0; round < ROUNDS; round++) {
            long start = bean.getCurrentThreadCpuTime();
            for (int i = 0; i < repeats * ROWS; i++) {
                rows.begin(1);
                plan.fill(rows, 0, history, 0, ++position);
                sampler.sample(logits, i % ROWS, rows, 0, tokens);
            }
            times[round] = (bean.getCurrentThreadCpuTime() - start) / 1e3 / repeats / ROWS;
        }
        Arrays.sort(times);
        return times[0];
    }
}
