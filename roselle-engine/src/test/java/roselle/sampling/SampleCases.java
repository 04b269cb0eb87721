package roselle.sampling;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Random;
import roselle.api.SamplingParameters;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.batch.SamplingPlan;

/** Rows of random logits with every filter, penalty, bias, mask and tie, and the tokens that the host samples from them. */
public final class SampleCases {
    private final Random random;
    private final int vocabulary;
    private final int rows;
    private final float[] logits; // [rows, vocabulary]
    private final SamplingRows sampling;
    private final SampledTokens tokens;
    private final int[] expected;
    private final String[] failures;

    public SampleCases(long seed, int vocabulary, int rows) {
        random = new Random(seed);
        this.vocabulary = vocabulary;
        this.rows = rows;
        logits = new float[rows * vocabulary];
        sampling = new SamplingRows(rows, 1 << 20);
        sampling.begin(rows);
        tokens = new SampledTokens(rows);
        expected = new int[rows];
        failures = new String[rows];
        var sampler = new Sampler(vocabulary);
        for (int row = 0; row < rows; row++) {
            make(sampler, row);
        }
    }

    public int rows() {
        return rows;
    }

    public int vocabulary() {
        return vocabulary;
    }

    /** Float32 of [rows, vocabulary]. */
    public MemorySegment logits() {
        return MemorySegment.ofArray(logits);
    }

    /** How they are to be sampled, all of them on a device. */
    public SamplingRows sampling() {
        return sampling;
    }

    /** A place for what a device samples. */
    public SampledTokens tokens() {
        return tokens;
    }

    /** What the host sampled from a row, or why it has no token. */
    public String expected(int row) {
        return describe(expected[row], failures[row]);
    }

    /** What a device sampled from a row. */
    public String sampled(int row) {
        return describe(tokens.token[row], Sampler.failure(tokens.failure[row], sampling.position[row]));
    }

    private static String describe(int token, String failure) {
        return token == Sampler.FAILED ? failure : "token " + token;
    }

    private void make(Sampler sampler, int row) {
        double spread = pick(0, 0.1, 1, 5, 20);
        double ties = pick(0, 0, 0, 1, 8);
        for (int id = 0; id < vocabulary; id++) {
            double x = (random.nextDouble() + random.nextDouble() + random.nextDouble() - 1.5) * spread;
            logits[row * vocabulary + id] = (float) (ties == 0 ? x : Math.round(x * ties) / ties);
        }
        if (random.nextInt(10) == 0) {
            logits[row * vocabulary + random.nextInt(vocabulary)] =
                    (float) pick(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
        }
        Plans plans = plans();
        SamplingPlan plan = plans.plan(vocabulary);
        int[] said = random.ints(1 + random.nextInt(300), 0, vocabulary).toArray();
        int prompt = random.nextInt(said.length + 1);
        plan.fill(sampling, row, said, prompt, said.length);
        sampling.mask[row] = mask();
        sampling.settlePlace(row);
        if (sampling.place[row] != SamplingRows.Place.DEVICE) {
            throw new AssertionError("there is no room for row " + row);
        }
        expected[row] = sampler.sample(logits(), row, sampling, row, new SampledTokens(rows));
        failures[row] = sampler.failure();
    }

    private Plans plans() {
        var plans = new Plans();
        plans.temperature = pick(0, 0.2, 0.7, 1, 1.3, 5);
        plans.topK = (int) pick(0, 0, 1, 5, 50, 600);
        plans.topP = pick(1, 1, 0.1, 0.5, 0.9, 0.95);
        plans.minP = pick(0, 0, 0, 0.05, 0.5, 1);
        plans.repetition = pick(1, 1, 1.1, 0.8);
        plans.presence = pick(0, 0, 0.6, -1);
        plans.frequency = pick(0, 0, 0.3, -0.7);
        plans.penaltyWindow = (int) pick(SamplingParameters.ALL_TOKENS, SamplingParameters.ALL_TOKENS, 1, 20, 200);
        plans.seed = random.nextLong();
        plans.topLogprobs = (int) pick(-1, 0, 1, 5, 20);
        if (random.nextInt(3) == 0) {
            plans.bias = new HashMap<>();
            for (int i = 0; i < 10; i++) {
                plans.bias.put(random.nextInt(vocabulary), (float) (random.nextGaussian() * 5));
            }
        }
        if (random.nextInt(3) == 0) {
            plans.stopIds = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                plans.stopIds.add(random.nextInt(vocabulary));
            }
            plans.minTokens = (int) pick(0, 1000);
        }
        return plans;
    }

    private long[] mask() {
        if (random.nextInt(4) > 0) {
            return SamplingRows.ALL;
        }
        int allowed = 1 + vocabulary / (int) pick(2, 50, 5000);
        return OneRow.mask(vocabulary, random.ints(allowed, 0, vocabulary).toArray());
    }

    private double pick(double... values) {
        return values[random.nextInt(values.length)];
    }
}
