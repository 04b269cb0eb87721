package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Rope;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/** Steps of decoding, on rows and pages as a decoder has them: appending within attention and before it. */
public abstract class DecodingContract extends BackendContract {
    private static final int PAGE = 16;
    private static final StepLimits LIMITS = new StepLimits(600, 5, 600, 352, PAGE);
    private static final int[] CONTEXTS = {1, 15, 63, 64, 300};
    private static final int STEPS = 3;

    /** What varies. */
    record Decoding(HeadShape heads, boolean turns, boolean norms, int window, float softCap, boolean sinks) {}

    static Stream<Arguments> decodings() {
        return Stream.of(
                        new Decoding(new HeadShape(12, 12, 64, 64), false, false, 0, 0f, false),
                        new Decoding(new HeadShape(4, 2, 64, 64), true, true, 0, 0f, true),
                        new Decoding(new HeadShape(8, 2, 128, 128), true, false, 0, 0f, false),
                        new Decoding(new HeadShape(20, 1, 128, 128), true, true, 40, 20f, false),
                        new Decoding(new HeadShape(6, 2, 80, 80), true, false, 70, 0f, false),
                        new Decoding(new HeadShape(3, 3, 96, 96), true, true, 0, 0f, false),
                        new Decoding(new HeadShape(2, 1, 256, 256), true, false, 0, 5f, false),
                        new Decoding(new HeadShape(16, 2, 512, 512), true, false, 0, 0f, false),
                        new Decoding(new HeadShape(4, 2, 24, 24), true, false, 0, 0f, false))
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("decodings")
    void appendsAndAttendsAtOnceWithTheBitsOfBoth(Decoding kind) {
        List<float[]> apart = attended(kind, false);
        List<float[]> atOnce = attended(kind, true);
        for (int i = 0; i < apart.size(); i++) {
            assertThat(atOnce.get(i)).as("step %d, seed %d", i, SEED).isEqualTo(apart.get(i));
        }
    }

    /** What attention gives in some steps of one row a sequence, and in one more that reads what they left in the pages. */
    private List<float[]> attended(Decoding kind, boolean atOnce) {
        var numbers = new Random(SEED);
        HeadShape heads = kind.heads;
        var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), kind.window);
        int pages = CONTEXTS.length * LIMITS.maxPages();
        KvCache cache =
                device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {pages});
        AttentionLayer layer = layer(kind, numbers);
        Projected prompt = new Projected(kind, numbers, Arrays.stream(CONTEXTS).sum());
        begin(new int[CONTEXTS.length], CONTEXTS);
        operations.ropeAndAppendKv(prompt.query, prompt.key, prompt.value, layer, cache);
        var all = new ArrayList<float[]>();
        var ones = new int[CONTEXTS.length];
        Arrays.fill(ones, 1);
        for (int i = 0; i <= STEPS; i++) {
            int passed = i;
            begin(Arrays.stream(CONTEXTS).map(context -> context + passed).toArray(), ones);
            var projected = new Projected(kind, numbers, ones.length);
            int width = heads.queryHeads() * heads.valueSize();
            Rows output = gapless(new float[ones.length * width], width);
            if (atOnce && i < STEPS) {
                operations.appendAndAttend(projected.query, projected.key, projected.value, layer, cache, output);
            } else {
                operations.ropeAndAppendKv(projected.query, projected.key, projected.value, layer, cache);
                operations.attention(projected.query, layer, cache, output);
            }
            all.add(readGapless(output, ones.length));
        }
        return all;
    }

    /** Queries alone see the pages that are there, and leave them as they are. */
    @ParameterizedTest
    @MethodSource("decodings")
    void queriesToTheKeysOfAnotherLayerAttendAndAppendNothing(Decoding kind) {
        var numbers = new Random(SEED);
        HeadShape heads = kind.heads;
        var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), kind.window);
        int pages = CONTEXTS.length * LIMITS.maxPages();
        KvCache cache =
                device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {pages});
        AttentionLayer own = layer(kind, numbers);
        var prompt = new Projected(kind, numbers, Arrays.stream(CONTEXTS).sum());
        begin(new int[CONTEXTS.length], CONTEXTS);
        operations.ropeAndAppendKv(prompt.query, prompt.key, prompt.value, own, cache);
        var ones = new int[CONTEXTS.length];
        Arrays.fill(ones, 1);
        begin(CONTEXTS, ones);
        float[] expected = oneRow(kind, own, false, cache);
        float[] first = oneRow(kind, queriesAlone(own), true, cache);
        float[] second = oneRow(kind, queriesAlone(own), true, cache);
        assertClose(first, doubles(expected));
        assertThat(second).isEqualTo(first);
    }

    /** What attention gives the same row of each sequence; keys and values are NaN where nobody is to look at them. */
    private float[] oneRow(Decoding kind, AttentionLayer layer, boolean poisons, KvCache cache) {
        HeadShape heads = kind.heads;
        var projected = new Projected(kind, new Random(SEED + 1), CONTEXTS.length);
        Rows key = poisons ? poisoned(CONTEXTS.length, heads.keyHeads() * heads.keySize()) : projected.key;
        Rows value = poisons ? poisoned(CONTEXTS.length, heads.keyHeads() * heads.valueSize()) : projected.value;
        int width = heads.queryHeads() * heads.valueSize();
        Rows output = gapless(new float[CONTEXTS.length * width], width);
        operations.appendAndAttend(projected.query, key, value, layer, cache, output);
        return readGapless(output, CONTEXTS.length);
    }

    private static AttentionLayer queriesAlone(AttentionLayer layer) {
        return new AttentionLayer(
                layer.group(),
                layer.layer(),
                layer.heads(),
                layer.rope(),
                layer.queryNorm(),
                null,
                layer.scale(),
                layer.softCap(),
                layer.sinks(),
                false,
                false);
    }

    private void begin(int[] contexts, int[] rows) {
        StepInputs inputs = step(LIMITS, 1, contexts, rows);
        Arrays.setAll(inputs.pageTable[0], i -> pageOf(i / inputs.maxPages, i % inputs.maxPages));
        begin(inputs);
    }

    /** Pages of a sequence that lie in no order. */
    private static int pageOf(int sequence, int page) {
        return page * CONTEXTS.length + (sequence + page) % CONTEXTS.length;
    }

    private AttentionLayer layer(Decoding kind, Random numbers) {
        HeadShape heads = kind.heads;
        Buffer frequencies = device.constants(frequencies(heads.keySize() / 2));
        Buffer weight = device.constants(gaussian(numbers, heads.keySize()));
        Norm norm = kind.norms ? new Norm(Norm.Kind.RMS, weight, 0f, null, 1e-6f) : null;
        return new AttentionLayer(
                0,
                0,
                heads,
                kind.turns ? new Rope(frequencies, 1f, false) : null,
                norm,
                norm,
                0.1f,
                kind.softCap,
                kind.sinks ? device.constants(gaussian(numbers, heads.queryHeads())) : null);
    }

    static float[] frequencies(int pairs) {
        var all = new float[pairs];
        for (int i = 0; i < pairs; i++) {
            all[i] = (float) Math.pow(10_000, -(double) i / pairs);
        }
        return all;
    }

    private static float[] gaussian(Random numbers, int count) {
        var all = new float[count];
        for (int i = 0; i < count; i++) {
            all[i] = (float) numbers.nextGaussian();
        }
        return all;
    }

    /** Queries, keys and values as one product leaves them. */
    private final class Projected {
        private final Rows query;
        private final Rows key;
        private final Rows value;

        Projected(Decoding kind, Random numbers, int rows) {
            HeadShape heads = kind.heads;
            int queries = heads.queryHeads() * heads.keySize();
            int keys = heads.keyHeads() * heads.keySize();
            int width = queries + keys + heads.keyHeads() * heads.valueSize();
            Rows all = gapless(gaussian(numbers, rows * width), width);
            query = all.columns(0, queries);
            key = all.columns(queries, keys);
            value = all.columns(queries + keys, width - queries - keys);
        }
    }
}
