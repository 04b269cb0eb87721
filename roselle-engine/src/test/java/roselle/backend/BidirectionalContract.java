package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.DistanceScores;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/** Attention in both directions, as encoders have it: whole sequences in a step, seen by each of their rows. */
public abstract class BidirectionalContract extends ContractFixture {
    private static final int PAGE = 16;
    private static final int[] LENGTHS = {1, 150, 64, 65, 31, 3};
    private static final StepLimits LIMITS = new StepLimits(400, LENGTHS.length, 400, 160, PAGE);
    private static final float SCALE = 0.2f;

    @ParameterizedTest
    @CsvSource({
        "4,2,64,64,0",
        "3,3,5,9,0",
        "12,12,32,32,0",
        "4,4,16,16,1",
        "4,2,64,64,20",
        "2,2,32,32,65",
        "3,1,9,9,70",
        "2,1,80,80,0",
        "3,1,96,96,33",
        "2,1,128,128,70",
        "1,1,256,256,0",
        "3,1,256,256,17"
    })
    void seesItsWholeSequenceWithinTheWindowAndNoOther(int queries, int keys, int keySize, int valueSize, int window) {
        requireExpected(queries, keys, keySize, valueSize, window);
    }

    @ParameterizedTest
    @CsvSource({"4,4,64,64,0,128", "3,3,5,9,0,7", "4,2,32,32,20,3", "2,1,128,128,0,20"})
    void addsWhatDistancesAddToScores(int queries, int keys, int keySize, int valueSize, int window, int span) {
        table = new float[queries * (2 * span + 1)];
        var numbers = new Random(SEED);
        for (int i = 0; i < table.length; i++) {
            table[i] = (float) numbers.nextGaussian();
        }
        this.span = span;
        requireExpected(queries, keys, keySize, valueSize, window);
    }

    @ParameterizedTest
    @CsvSource({"4,64,0,16", "3,9,0,7", "2,32,20,3"})
    void addsWhatQueriesAndKeysSayOfDistances(int heads, int size, int window, int kinds) {
        met = kinds;
        requireExpected(heads, heads, size, size, window);
    }

    private int met; // kinds of distances that queries and keys meet; 0 for none

    /** The kind of a distance, whichever. */
    private int kind(int distance) {
        return Math.floorMod(distance * 5, met);
    }

    private @Nullable DistanceScores met(int heads, int... chosen) {
        if (met == 0) {
            return null;
        }
        int far = Arrays.stream(LENGTHS).max().orElseThrow();
        var kinds = new float[2 * far + 1];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = kind(i - far);
        }
        int width = heads * met;
        Rows ofQueries = gapless(joined(gaussian(width), chosen), width);
        Rows ofKeys = gapless(joined(gaussian(width), chosen), width);
        return new DistanceScores(ofQueries, ofKeys, device.constants(kinds), far);
    }

    private int span;
    private float[] table = new float[0]; // of what distances add to scores

    private void requireExpected(int queries, int keys, int keySize, int valueSize, int window) {
        var heads = new HeadShape(queries, keys, keySize, valueSize);
        float[][] query = gaussian(queries * keySize);
        float[][] key = gaussian(keys * keySize);
        float[][] value = gaussian(keys * valueSize);
        int[] all = {0, 1, 2, 3, 4, 5};
        float[][] together = attended(heads, window, query, key, value, all);
        for (int s = 0; s < LENGTHS.length; s++) {
            float[] alone = attended(heads, window, query, key, value, s)[0];
            assertThat(together[s])
                    .as("the same bits, sequence %d, seed %d", s, SEED)
                    .isEqualTo(alone);
            float[] said = met == 0 ? new float[0] : gaussian(queries * met)[s];
            double[] expected = expected(heads, window, query[s], key[s], value[s], said, LENGTHS[s]);
            for (int i = 0; i < expected.length; i++) {
                assertThat((double) alone[i])
                        .as("sequence %d, number %d, seed %d", s, i, SEED)
                        .isCloseTo(expected[i], within(20 * tolerance()));
            }
        }
    }

    private float[][] gaussian(int width) {
        var numbers = new Random(SEED + width);
        var all = new float[LENGTHS.length][];
        for (int s = 0; s < all.length; s++) {
            all[s] = new float[LENGTHS[s] * width];
            for (int i = 0; i < all[s].length; i++) {
                all[s][i] = (float) numbers.nextGaussian();
            }
        }
        return all;
    }

    /** What some of the sequences give in a step of theirs. */
    private float[][] attended(
            HeadShape heads, int window, float[][] query, float[][] key, float[][] value, int... chosen) {
        var group = new KvGroup("whole", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), window);
        KvCache cache =
                device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {60});
        int[] lengths = Arrays.stream(chosen).map(s -> LENGTHS[s]).toArray();
        StepInputs inputs = step(LIMITS, 1, new int[chosen.length], lengths);
        int next = 59;
        for (int s = 0; s < chosen.length; s++) {
            for (int page = 0; page * PAGE < lengths[s]; page++) {
                inputs.pageTable[0][s * inputs.maxPages + page] = next--;
            }
        }
        begin(inputs);
        DistanceBias distances = table.length == 0 ? null : new DistanceBias(device.constants(table), span);
        var met = met(heads.queryHeads(), chosen);
        var traits = new AttentionLayer.Traits(false, null, null, distances, null, false, null, met);
        var layer = new AttentionLayer(0, 0, heads, null, null, null, SCALE, 0f, null, true, true, traits);
        Rows queries = gapless(joined(query, chosen), heads.queryHeads() * heads.keySize());
        Rows keys = gapless(joined(key, chosen), heads.keyHeads() * heads.keySize());
        Rows values = gapless(joined(value, chosen), heads.keyHeads() * heads.valueSize());
        int width = heads.queryHeads() * heads.valueSize();
        Rows output = gapless(new float[inputs.rows * width], width);
        operations.appendAndAttend(queries, keys, values, layer, cache, output);
        float[] all = readGapless(output, inputs.rows);
        var parts = new float[chosen.length][];
        for (int s = 0; s < parts.length; s++) {
            parts[s] = Arrays.copyOfRange(all, inputs.rowStart[s] * width, inputs.rowStart[s + 1] * width);
        }
        return parts;
    }

    private static float[] joined(float[][] parts, int... chosen) {
        var all = new float[Arrays.stream(chosen).map(s -> parts[s].length).sum()];
        int at = 0;
        for (int s : chosen) {
            System.arraycopy(parts[s], 0, all, at, parts[s].length);
            at += parts[s].length;
        }
        return all;
    }

    private double[] expected(
            HeadShape heads, int window, float[] query, float[] key, float[] value, float[] said, int length) {
        var expected = new double[length * heads.queryHeads() * heads.valueSize()];
        for (int row = 0; row < length; row++) {
            for (int head = 0; head < heads.queryHeads(); head++) {
                int keyHead = head * heads.keyHeads() / heads.queryHeads();
                double total = 0;
                int to = (row * heads.queryHeads() + head) * heads.valueSize();
                for (int other = 0; other < length; other++) {
                    if (window != 0 && Math.abs(other - row) >= window) {
                        continue;
                    }
                    double score = 0;
                    for (int i = 0; i < heads.keySize(); i++) {
                        score += (double) query[(row * heads.queryHeads() + head) * heads.keySize() + i]
                                * key[(other * heads.keyHeads() + keyHead) * heads.keySize() + i];
                    }
                    if (met != 0) {
                        int kind = head * met + kind(other - row);
                        int width = heads.queryHeads() * met;
                        score += said[row * width + kind] + (double) said[other * width + kind];
                    }
                    int distance = Math.clamp(other - row, -span, span);
                    double far = table.length == 0 ? 0 : table[head * (2 * span + 1) + span + distance];
                    double weight = Math.exp(score * SCALE + far);
                    total += weight;
                    for (int i = 0; i < heads.valueSize(); i++) {
                        expected[to + i] +=
                                weight * value[(other * heads.keyHeads() + keyHead) * heads.valueSize() + i];
                    }
                }
                for (int i = 0; i < heads.valueSize(); i++) {
                    expected[to + i] /= total;
                }
            }
        }
        return expected;
    }
}
