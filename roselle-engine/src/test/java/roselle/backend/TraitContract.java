package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.Compression;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionIndex;
import roselle.backend.operation.PositionScale;
import roselle.backend.operation.Rope;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.operation.Xielu;
import roselle.backend.reference.ReferenceDevice;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.tensor.DataType;

/** What few families need, and what goes into the comparison of any operation with the reference. */
public abstract class TraitContract extends KvTypesContract {
    static final int COLUMNS = 256; // a super-block
    static final int PAGE = 16;
    static final int[] PROMPTS = {37, 1, 80};
    static final int[] ONES = {1, 1, 1};
    static final StepLimits LIMITS = new StepLimits(160, 3, 160, 96, PAGE);
    static final int PAGES = 3 * LIMITS.maxPages();
    static final PositionScale GROWING = new PositionScale(0.3f, 16, 1);

    static float[] joined(List<float[]> parts) {
        var all = new float[parts.stream().mapToInt(part -> part.length).sum()];
        int at = 0;
        for (float[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    /** What the reference gives in the place of the device. */
    float[] ofReference(Supplier<float[]> outcome) {
        Device tested = device;
        try (var reference = new ReferenceDevice()) {
            device = reference;
            return outcome.get();
        } finally {
            device = tested;
        }
    }

    static void assertNear(float[] actual, float[] expected, double tolerance) {
        assertThat(actual).hasSameSizeAs(expected);
        double largest = 0;
        for (float number : expected) {
            largest = Math.max(largest, Math.abs(number)); // NaN once there is one
        }
        assertThat(largest).as("the largest number of the reference").isFinite();
        for (int i = 0; i < actual.length; i++) {
            if (!(Math.abs((double) actual[i] - expected[i]) <= tolerance * largest)) {
                assertThat((double) actual[i])
                        .as("number %d, seed %d", i, SEED)
                        .isCloseTo(expected[i], within(tolerance * largest));
            }
        }
    }

    void givesWhatTheReferenceGives(Supplier<float[]> outcome) {
        Supplier<float[]> seeded = () -> {
            random.setSeed(SEED);
            return outcome.get();
        };
        assertNear(seeded.get(), ofReference(seeded), tolerance());
    }

    /** Sizes of heads for which some devices have kernels of their own, and one for which none has. */
    @ParameterizedTest
    @ValueSource(ints = {24, 64, 128})
    void normsFollowTheirRotationWhereTheLayerSaysSo(int size) {
        givesWhatTheReferenceGives(
                () -> attendedWith(new AttentionLayer.Traits(true, null, null, null, null), 0, size));
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 64, 128})
    void queriesGrowWithTheirPositions(int size) {
        givesWhatTheReferenceGives(
                () -> attendedWith(new AttentionLayer.Traits(false, GROWING, null, null, null), 0, size));
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 64, 128})
    void scoresFallWithDistance(int size) {
        givesWhatTheReferenceGives(() -> {
            Buffer slopes = device.constants(new float[] {-0.5f, -0.25f, -0.0625f, 0f});
            return attendedWith(new AttentionLayer.Traits(false, null, slopes, null, null), 0, size);
        });
    }

    /** Chunks of a power of two, and of no such. */
    @ParameterizedTest
    @CsvSource({"24, 32", "64, 32", "64, 20", "128, 16", "128, 50"})
    void chunksEndWhatARowSees(int size, int chunk) {
        givesWhatTheReferenceGives(() -> attendedWith(AttentionLayer.Traits.NONE, chunk, size));
    }

    /** Prompts, and the row behind each, whose keys are appended as it attends; {@code chunk} is 0 where rows see all. */
    private float[] attendedWith(AttentionLayer.Traits traits, int chunk, int size) {
        var heads = new HeadShape(4, 2, size, size);
        var group = new KvGroup("traits", 1, heads.keyHeads(), size, size, chunk, KvGroup.NO_STATE, chunk != 0);
        KvCache cache =
                device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {PAGES});
        var norm = new Norm(Norm.Kind.RMS, device.constants(numbers(size)), 1f, null, 1e-6f);
        var rope = new Rope(device.constants(frequencies(size / 2)), 1f, false);
        var layer = new AttentionLayer(0, 0, heads, rope, norm, norm, 0.1f, 0f, null, false, true, traits);
        int queries = heads.queryHeads() * size;
        int keys = heads.keyHeads() * size;
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows all = someGapless(rows, queries + 2 * keys);
            Rows query = all.columns(0, queries);
            Rows key = all.columns(queries, keys);
            Rows value = all.columns(queries + keys, keys);
            Rows output = gapless(new float[rows * queries], queries);
            if (decodes) {
                operations.appendAndAttend(query, key, value, layer, cache, output);
            } else {
                operations.ropeAndAppendKv(query, key, value, layer, cache);
                operations.attention(query, layer, cache, output);
            }
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    float[] numbers(int count) {
        float[] numbers = random(count);
        for (int i = 0; i < count; i++) {
            numbers[i] = Float.intBitsToFloat(Float.floatToRawIntBits(numbers[i]) & 0xFFFF_0000);
        }
        return numbers;
    }

    Rows some(int rows, int columns) {
        return rows(numbers(rows * columns), columns);
    }

    Rows someGapless(int rows, int columns) {
        return gapless(numbers(rows * columns), columns);
    }

    /** Begins a step of the prompts, or of the row behind each; returns the number of rows. */
    int beginAttention(boolean decodes) {
        return beginAttention(decodes, 1);
    }

    private int beginAttention(boolean decodes, int groups) {
        int count = PROMPTS.length;
        StepInputs inputs =
                decodes ? step(LIMITS, groups, PROMPTS, ONES) : step(LIMITS, groups, new int[count], PROMPTS);
        for (int[] table : inputs.pageTable) {
            Arrays.setAll(
                    table, i -> i % inputs.maxPages * count + (i / inputs.maxPages + i % inputs.maxPages) % count);
        }
        begin(inputs);
        return inputs.rows;
    }

    /** Attention to the eight positions that its own queries and keys choose. */
    float[] attendedToChosen() {
        var heads = new HeadShape(4, 1, 64, 64);
        var group = new KvGroup("chosen", 1, 1, heads.keySize(), heads.valueSize(), 0);
        KvCache cache = device.allocateKvCache(List.of(group), KvType.F32, PAGE, new int[] {PAGES});
        var keys = new AttentionLayer(0, 0, heads, null, null, null, 0.05f, 0f, null);
        var chosen = new ChosenPositions(device.allocate(DataType.I32, LIMITS.maxRows() * 8L), 1, 1, 8);
        var traits = new AttentionLayer.Traits(false, null, null, null, chosen);
        var layer = new AttentionLayer(0, 0, heads, null, null, null, 0.05f, 0f, null, false, true, traits);
        int queries = heads.queryHeads() * heads.keySize();
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows all = someGapless(rows, queries + 2 * heads.keySize());
            Rows query = all.columns(0, queries);
            Rows key = all.columns(queries, heads.keySize());
            Rows value = all.columns(queries + heads.keySize(), heads.valueSize());
            operations.ropeAndAppendKv(query, key, value, keys, cache);
            operations.choosePositions(
                    query, some(rows, heads.queryHeads()), new PositionIndex(keys, 0, chosen), cache);
            Rows output = gapless(new float[rows * queries], queries);
            operations.attention(query, layer, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    /** Attention to whole blocks that are chosen by one key each, made of four tokens, and to what is behind them. */
    float[] attendedToPools() {
        var heads = new HeadShape(4, 1, 64, 64);
        int tokens = 4;
        int most = 2 * tokens;
        var groups = List.of(
                new KvGroup("full", 1, 1, 64, 64, 0),
                new KvGroup("given", 1, 1, 64, 64, tokens, KvGroup.NO_STATE, true),
                KvGroup.compressed("compressed", 64, tokens));
        KvCache cache = device.allocateKvCache(groups, KvType.F32, PAGE, new int[] {PAGES, PAGES, PAGES});
        var chosen = new ChosenPositions(
                device.allocate(DataType.I32, (long) LIMITS.maxRows() * (most + tokens - 1)), 1, tokens, most, 1, true);
        var traits = new AttentionLayer.Traits(false, null, null, null, chosen);
        var layer = new AttentionLayer(0, 0, heads, null, null, null, 0.05f, 0f, null, false, true, traits);
        var norm = new Norm(Norm.Kind.LAYER, device.constants(numbers(64)), 0f, device.constants(numbers(64)), 1e-6f);
        var given = new AttentionLayer(1, 0, new HeadShape(1, 1, 64, 64), null, null, norm, 1f, 0f, null);
        var keys = new AttentionLayer(2, 0, heads, null, null, null, 0.05f, 0f, null);
        var compression = new Compression(given, keys, false, device.constants(numbers(tokens * 64)));
        int queries = heads.queryHeads() * heads.keySize();
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes, groups.size());
            Rows all = someGapless(rows, queries + 4 * 64);
            Rows query = all.columns(0, queries);
            Rows vectors = all.columns(queries, 64);
            operations.ropeAndAppendKv(vectors, vectors, all.columns(queries + 64, 64), given, cache);
            operations.compress(compression, cache, gapless(new float[rows * 64], 64));
            operations.choosePositions(
                    query, some(rows, heads.queryHeads()), new PositionIndex(keys, 0, chosen), cache);
            operations.ropeAndAppendKv(
                    query, all.columns(queries + 128, 64), all.columns(queries + 192, 64), layer, cache);
            Rows output = gapless(new float[rows * queries], queries);
            operations.attention(query, layer, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    /** Attention to a window, turned at its ends, and to keys of four tokens or of more than a page, all of them or some. */
    float[] attendedToCompressed() {
        var left = new ArrayList<float[]>();
        left.add(attendedToCompressed(4, true, 3));
        left.add(attendedToCompressed(4, false, 0));
        left.add(attendedToCompressed(32, false, 0));
        return joined(left);
    }

    private float[] attendedToCompressed(int tokens, boolean overlaps, int most) {
        var heads = new HeadShape(4, 1, 64, 64);
        int given = overlaps ? 128 : 64;
        var groups = List.of(
                new KvGroup("window", 1, 1, 64, 0, 16),
                new KvGroup("given", 1, 1, given, given, 2 * tokens),
                KvGroup.compressed("compressed", 64, tokens));
        KvCache cache = device.allocateKvCache(groups, KvType.F32, PAGE, new int[] {PAGES, PAGES, PAGES});
        var rope = new Rope(device.constants(new float[] {1f, 0.25f, 0.125f, 0.01f}), 1f, true);
        var norm = new Norm(Norm.Kind.RMS, device.constants(numbers(64)), 0f, null, 1e-6f);
        var chosen = most == 0
                ? null
                : new ChosenPositions(
                        device.allocate(DataType.I32, (long) LIMITS.maxRows() * most), 1, 1, most, tokens, false);
        var chosenTraits = new AttentionLayer.Traits(false, null, null, null, chosen, true, null);
        var compressed = new AttentionLayer(2, 0, heads, rope, null, norm, 0.05f, 0f, null, false, true, chosenTraits);
        var traits = AttentionLayer.Traits.ofEnds(compressed);
        var layer = new AttentionLayer(0, 0, heads, rope, null, null, 0.05f, 0f, null, false, true, traits);
        var tokensGiven = new AttentionLayer(1, 0, new HeadShape(1, 1, given, given), null, null, null, 1f, 0f, null);
        var compression = new Compression(tokensGiven, compressed, overlaps, device.constants(numbers(tokens * given)));
        int queries = heads.queryHeads() * heads.keySize();
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes, groups.size());
            Rows all = someGapless(rows, queries + 64 + 2 * given);
            Rows query = all.columns(0, queries);
            Rows key = all.columns(queries, 64);
            Rows vectors = all.columns(queries + 64, given);
            operations.ropeAndAppendKv(vectors, vectors, all.columns(queries + 64 + given, given), tokensGiven, cache);
            operations.compress(compression, cache, gapless(new float[rows * 64], 64));
            operations.ropeAndAppendKv(query, key, key, layer, cache);
            if (chosen != null) {
                operations.choosePositions(
                        query, some(rows, heads.queryHeads()), new PositionIndex(compressed, 0, chosen), cache);
            }
            Rows output = gapless(new float[rows * queries], queries);
            operations.attention(query, layer, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    float[] connected(int rows) {
        var left = new ArrayList<float[]>();
        for (boolean givenFirst : new boolean[] {false, true}) {
            Rows output = poisoned(rows, 24);
            var taken = new Connection.Taken(2f, 0f);
            operations.connect(some(rows, 24), new Connection(4, 3, 1e-3f, taken, givenFirst), output, rows);
            left.add(read(output, rows));
            Rows same = poisoned(rows, 24);
            var more = new Connection.Taken(1.5f, 1e-3f);
            operations.connect(some(rows, 8), new Connection(4, 0, 1e-3f, more, givenFirst), same, rows);
            left.add(read(same, rows));
        }
        Rows output = poisoned(rows, 4);
        operations.connect(some(rows, 4), Connection.read(4, 1e-3f), output, rows);
        left.add(read(output, rows));
        return joined(left);
    }

    float[] sparsified(int rows) {
        Rows gates = some(rows, COLUMNS);
        operations.sparsify(gates, 0.5f, rows);
        return read(gates, rows);
    }

    float[] trained(int rows) {
        Rows numbers = some(rows, COLUMNS);
        operations.xielu(numbers, new Xielu(0.7f, 1.3f, 0.5f, -1e-6f), rows);
        return read(numbers, rows);
    }

    float[] mixed(int rows) {
        Rows output = poisoned(rows, COLUMNS);
        operations.mix(some(rows, COLUMNS), some(rows, 16), COLUMNS / 4, output, rows);
        return read(output, rows);
    }

    float[] addedAsLong(int rows) {
        Rows output = some(rows, COLUMNS);
        operations.addAsLongAs(some(rows, COLUMNS), some(rows, COLUMNS), output, rows);
        return read(output, rows);
    }

    /** A convolution of the same steps. */
    final float[] convolved() {
        int channels = 100;
        KvGroup group = KvGroup.ofState("convolution", 1, channels, 0);
        KvCache cache = device.allocateKvCache(List.of(group), KvType.F16, PAGE, new int[] {PAGES});
        var convolution = new Convolution(
                0, 0, 4, device.constants(random(4 * channels)), device.constants(random(channels)), Activation.SILU);
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows input = someGapless(rows, channels);
            Rows output = gapless(new float[rows * channels], channels);
            operations.convolve(input, convolution, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    /** A delta rule of the same steps. */
    final float[] remembered() {
        var heads = new DeltaHeads(2, 4, 48, 64);
        KvCache cache = device.allocateKvCache(List.of(heads.group(1)), KvType.F16, PAGE, new int[] {PAGES});
        float[] rate = random(heads.valueHeads());
        for (int h = 0; h < rate.length; h++) {
            rate[h] = -Math.abs(rate[h]);
        }
        var rule = new DeltaRule(0, 0, heads, device.constants(rate), device.constants(random(heads.valueHeads())));
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows query = someGapless(rows, heads.keys());
            Rows key = someGapless(rows, heads.keys());
            Rows value = someGapless(rows, heads.values());
            Rows a = someGapless(rows, heads.valueHeads());
            Rows b = someGapless(rows, heads.valueHeads());
            Rows output = gapless(new float[rows * heads.values()], heads.values());
            operations.deltaRule(query, key, value, a, b, rule, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    /** A gated delta net of the same steps. */
    final float[] netted() {
        var heads = new DeltaHeads(1, 2, 128, 128);
        List<KvGroup> groups = List.of(KvGroup.ofState("convolution", 1, heads.channels(), 0), heads.group(1));
        KvCache cache = device.allocateKvCache(groups, KvType.F16, PAGE, new int[] {PAGES, PAGES});
        var rule =
                new DeltaRule(1, 0, heads, device.constants(new float[] {-0.4f, -1.5f}), device.constants(random(2)));
        var convolution =
                new Convolution(0, 0, 4, device.constants(random(4 * heads.channels())), null, Activation.SILU);
        var norm = new Norm(Norm.Kind.RMS, device.constants(random(heads.valueSize())), 0.5f, null, 1e-6f);
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes, 2);
            Rows convolved = gapless(new float[rows * heads.channels()], heads.channels());
            Rows attended = gapless(new float[rows * heads.values()], heads.values());
            var net = new DeltaNet(
                    someGapless(rows, heads.channels()),
                    convolution,
                    convolved,
                    convolved.columns(0, heads.keys()),
                    convolved.columns(heads.keys(), heads.keys()),
                    convolved.columns(2 * heads.keys(), heads.values()),
                    someGapless(rows, heads.valueHeads()),
                    someGapless(rows, heads.valueHeads()),
                    rule,
                    attended,
                    Rows.of(attended.buffer(), heads.valueSize()),
                    norm,
                    someGapless(rows, heads.values()),
                    Gate.of(Activation.SILU));
            operations.deltaNet(net, cache, rows);
            left.add(readGapless(attended, rows));
        }
        return joined(left);
    }

    /** A selective scan of the same steps. */
    final float[] scanned() {
        int channels = 88;
        int size = 12;
        KvGroup group = SelectiveScan.kvGroup(channels, size);
        KvCache cache = device.allocateKvCache(List.of(group), KvType.F16, PAGE, new int[] {PAGES});
        float[] rate = random(size * channels);
        for (int i = 0; i < rate.length; i++) {
            rate[i] = -Math.abs(rate[i]);
        }
        var scan = new SelectiveScan(
                0, 0, device.constants(rate), device.constants(random(channels)), device.constants(random(channels)));
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows x = someGapless(rows, channels);
            Rows times = someGapless(rows, channels);
            Rows b = someGapless(rows, size);
            Rows c = someGapless(rows, size);
            Rows output = gapless(new float[rows * channels], channels);
            operations.selectiveScan(x, times, b, c, scan, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }
}
