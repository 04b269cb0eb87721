package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.cuda.layout.SampleResultLayout;
import roselle.cuda.layout.SampleRowLayout;
import roselle.sampling.Sampler;

/**
 * Does on a fake device what {@code sample.cu} does, by the host's sampler, from the structs and numbers that the device was given;
 * but the logits of a row depend on its seed and position alone.
 */
final class FakeSampler {
    private final FakeDriver driver;

    FakeSampler(FakeDriver driver) {
        this.driver = driver;
    }

    void run(FakeKernels.Launch launch) {
        if (launch.kernel().name().equals("sample")) {
            for (int row = 0; row < launch.grid().y(); row++) {
                sample(launch, row);
            }
        }
    }

    private void sample(FakeKernels.Launch launch, int row) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct =
                    read(arena, launch.value("rows") + (long) row * SampleRowLayout.BYTES, SampleRowLayout.BYTES);
            if (SampleRowLayout.TEMPERATURE.of(struct) < 0) {
                return;
            }
            int vocabulary = (int) launch.value("vocabulary");
            var rows = new SamplingRows(1, 0);
            rows.begin(1);
            fill(arena, rows, struct, vocabulary);
            var logits = new float[vocabulary];
            var random = new SplittableRandom(rows.seed[0] * 31 + rows.position[0]);
            for (int id = 0; id < vocabulary; id++) {
                logits[id] = (float) random.nextDouble(-2, 2);
            }
            var tokens = new SampledTokens(1);
            int token = new Sampler(vocabulary).sample(MemorySegment.ofArray(logits), 0, rows, 0, tokens);
            if (token == Sampler.FAILED) {
                throw new AssertionError(Sampler.failure(tokens.failure[0], rows.position[0]));
            }
            MemorySegment result = arena.allocate(SampleResultLayout.BYTES, 8); // no failure, no log-probabilities
            result.set(JAVA_INT, 0, token);
            driver.reach().write(launch.value("results") + (long) row * SampleResultLayout.BYTES, result);
            MemorySegment id = arena.allocate(JAVA_INT);
            id.set(JAVA_INT, 0, token);
            driver.reach().write(launch.value("tokenOf") + (long) row * Integer.BYTES, id);
        }
    }

    private void fill(Arena arena, SamplingRows rows, MemorySegment struct, int vocabulary) {
        rows.temperature[0] = SampleRowLayout.TEMPERATURE.of(struct);
        rows.topP[0] = SampleRowLayout.TOP_P.of(struct);
        rows.minP[0] = SampleRowLayout.MIN_P.of(struct);
        rows.seed[0] = SampleRowLayout.SEED.of(struct);
        rows.position[0] = (int) SampleRowLayout.POSITION.of(struct);
        rows.topK[0] = SampleRowLayout.TOP_K.of(struct);
        rows.repetition[0] = SampleRowLayout.REPETITION.of(struct);
        rows.presence[0] = SampleRowLayout.PRESENCE.of(struct);
        rows.frequency[0] = SampleRowLayout.FREQUENCY.of(struct);
        int seen = SampleRowLayout.HISTORY_LENGTH.of(struct);
        if (seen > 0) { // what no penalty sees is not told, and stands for nothing here
            int hidden = rows.position[0] - seen;
            rows.history[0] = new int[rows.position[0]];
            System.arraycopy(ints(arena, SampleRowLayout.HISTORY.of(struct), seen), 0, rows.history[0], hidden, seen);
            rows.penaltyWindow[0] = seen;
            rows.promptLength[0] = hidden + SampleRowLayout.PROMPT_LENGTH.of(struct);
        } else {
            rows.promptLength[0] = rows.position[0];
        }
        int biases = SampleRowLayout.BIAS_COUNT.of(struct);
        rows.biasIds[0] = ints(arena, SampleRowLayout.BIAS_IDS.of(struct), biases);
        rows.biases[0] = new float[biases];
        int[] bits = ints(arena, SampleRowLayout.BIASES.of(struct), biases);
        for (int i = 0; i < biases; i++) {
            rows.biases[0][i] = Float.intBitsToFloat(bits[i]);
        }
        rows.forbidden[0] = ints(arena, SampleRowLayout.STOP_IDS.of(struct), SampleRowLayout.STOP_COUNT.of(struct));
        long mask = SampleRowLayout.MASK.of(struct);
        if (mask != 0) {
            int words = (vocabulary + 63) / 64;
            rows.mask[0] = read(arena, mask, (long) words * Long.BYTES).toArray(ValueLayout.JAVA_LONG);
        }
    }

    private int[] ints(Arena arena, long address, int count) {
        return count == 0
                ? SamplingRows.NO_IDS
                : read(arena, address, (long) count * Integer.BYTES).toArray(JAVA_INT);
    }

    private MemorySegment read(Arena arena, long address, long bytes) {
        MemorySegment copy = arena.allocate(bytes, 8);
        driver.reach().read(address, copy);
        return copy;
    }
}
