package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.DeviceException;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Rope;
import roselle.backend.reference.ReferenceDevice;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/**
 * What a device attends to is what {@link KvType} says that its cache keeps, to the last code: keys and values come into the cache
 * without being normalised, and rotated by nothing.
 */
public abstract class KvTypesContract extends DecodingContract {
    private static final int PAGE = 16;
    private static final int[] PROMPTS = {19, 1, 70};
    private static final int[] ONES = {1, 1, 1};
    private static final StepLimits LIMITS = new StepLimits(96, 3, 96, 80, PAGE);
    private static final int PAGES = 3 * LIMITS.maxPages();

    private static final Map<KvType, float[]> EXPECTED = new EnumMap<>(KvType.class); // the same for every device

    @ParameterizedTest
    @EnumSource(KvType.class)
    void keepsKeysAndValuesAsTheirTypeSays(KvType type) {
        if (!device.kvTypes().contains(type)) {
            var group = new KvGroup("test", 1, 2, 64, 64, 0);
            assertThatThrownBy(() -> device.allocateKvCache(List.of(group), type, PAGE, new int[] {PAGES}))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining(type.label());
            return;
        }
        float[] own = kept(type);
        float[] expected = EXPECTED.computeIfAbsent(type, this::ofReference);
        ReferenceContract.assertNear(own, expected, tolerance());
    }

    private float[] ofReference(KvType type) {
        Device tested = device;
        try (var reference = new ReferenceDevice()) {
            device = reference;
            return kept(type);
        } finally {
            device = tested;
        }
    }

    private float[] kept(KvType type) {
        random.setSeed(SEED);
        var left = new ArrayList<float[]>();
        left.addAll(heads(type, new HeadShape(4, 2, 64, 64), 0));
        left.addAll(heads(type, new HeadShape(4, 2, 64, 64), 20));
        left.addAll(heads(type, new HeadShape(2, 2, 24, 40), 0));
        left.addAll(latents(type, new HeadShape(4, 1, 72, 56)));
        return ReferenceContract.joined(left);
    }

    /** Prompts in one step, then a row of each. */
    private List<float[]> heads(KvType type, HeadShape heads, int window) {
        var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), window);
        KvCache cache = device.allocateKvCache(List.of(group), type, PAGE, new int[] {PAGES});
        AttentionLayer layer = layer(heads, heads.keySize());
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginStep(decodes);
            Rows query = some(rows, heads.queryHeads() * heads.keySize());
            Rows key = some(rows, heads.keyHeads() * heads.keySize());
            Rows value = some(rows, heads.keyHeads() * heads.valueSize());
            operations.ropeAndAppendKv(query, key, value, layer, cache);
            left.add(attended(query, layer, cache, rows));
        }
        return left;
    }

    private List<float[]> latents(KvType type, HeadShape heads) {
        int tail = heads.keySize() - heads.valueSize();
        var group = new KvGroup("latent", 1, 1, heads.keySize(), 0, 0);
        KvCache cache = device.allocateKvCache(List.of(group), type, PAGE, new int[] {PAGES});
        AttentionLayer layer = layer(heads, tail);
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginStep(decodes);
            Rows absorbed = some(rows, heads.queryHeads() * heads.keySize());
            Rows query = some(rows, heads.queryHeads() * tail);
            Rows latent = some(rows, heads.keySize());
            operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
            left.add(attended(absorbed, layer, cache, rows));
        }
        return left;
    }

    private float[] attended(Rows query, AttentionLayer layer, KvCache cache, int rows) {
        int columns = layer.heads().queryHeads() * layer.heads().valueSize();
        Rows output = gapless(new float[rows * columns], columns);
        operations.attention(query, layer, cache, output);
        return readGapless(output, rows);
    }

    /** Rotated by an angle of zero. */
    private AttentionLayer layer(HeadShape heads, int turned) {
        var rope = new Rope(device.constants(new float[turned / 2]), 1f, true);
        return new AttentionLayer(0, 0, heads, rope, null, null, 0.2f, 0f, null);
    }

    /** Numbers of 16 bits whose sizes differ from row to row; the second row has the same number everywhere, the third none but 0. */
    private Rows some(int rows, int columns) {
        float[] numbers = random(rows * columns);
        for (int i = 0; i < numbers.length; i++) {
            int row = i / columns;
            float number = row == 1 ? 0.75f : row == 2 ? 0f : numbers[i] * (1 + row % 5);
            numbers[i] = Float.intBitsToFloat(Float.floatToRawIntBits(number) & 0xFFFF_0000);
        }
        return gapless(numbers, columns);
    }

    private int beginStep(boolean decodes) {
        int count = PROMPTS.length;
        StepInputs inputs = decodes ? step(LIMITS, 1, PROMPTS, ONES) : step(LIMITS, 1, new int[count], PROMPTS);
        Arrays.setAll(inputs.pageTable[0], i -> i % inputs.maxPages * count + i / inputs.maxPages);
        begin(inputs);
        return inputs.rows;
    }

    private static final StepLimits WIDE = new StepLimits(160, 3, 160, 160, PAGE);

    /** More than a split, and the last page is not full. */
    private static final int LENGTH = 141;

    static Stream<Arguments> typesAndHeads() {
        List<HeadShape> shapes = List.of(new HeadShape(4, 2, 64, 64), new HeadShape(4, 1, 128, 128));
        return KvType.all().stream().flatMap(type -> shapes.stream().map(heads -> Arguments.of(type, heads)));
    }

    @ParameterizedTest
    @MethodSource("typesAndHeads")
    void rowsHaveTheSameBitsInChunksAndAmongOthers(KvType type, HeadShape heads) {
        assumeTrue(device.kvTypes().contains(type), () -> "keeps nothing as " + type.label());
        float[] atOnce = ofSequence(type, heads, 0, LENGTH);
        assertThat(atOnce).as("seed %d", SEED).doesNotContain(Float.NaN);
        assertThat(ofSequence(type, heads, 0, 100, 139, 140, LENGTH))
                .as("in chunks")
                .isEqualTo(atOnce);
        assertThat(ofSequence(type, heads, 2, 70, 140, LENGTH))
                .as("among others")
                .isEqualTo(atOnce);
    }

    /** What attention gives the rows of a sequence in steps that end at some of its rows, each beside one row of others. */
    private float[] ofSequence(KvType type, HeadShape heads, int others, int... ends) {
        random.setSeed(SEED);
        float[][] query = numbers(heads.queryHeads() * heads.keySize());
        float[][] key = numbers(heads.keyHeads() * heads.keySize());
        float[][] value = numbers(heads.keyHeads() * heads.valueSize());
        var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), 0);
        KvCache cache = device.allocateKvCache(List.of(group), type, PAGE, new int[] {3 * WIDE.maxPages()});
        AttentionLayer layer = layer(heads, heads.keySize());
        int width = heads.queryHeads() * heads.valueSize();
        var all = new float[LENGTH * width];
        int from = 0;
        for (int passed = 0; passed < ends.length; passed++) {
            int rows = ends[passed] - from;
            beginBeside(others, passed, from, rows);
            Rows turned = taken(query, from, rows, others);
            operations.ropeAndAppendKv(
                    turned, taken(key, from, rows, others), taken(value, from, rows, others), layer, cache);
            Rows output = gapless(new float[(rows + others) * width], width);
            operations.attention(turned, layer, cache, output);
            System.arraycopy(readGapless(output, rows + others), 0, all, from * width, rows * width);
            from = ends[passed];
        }
        return all;
    }

    private float[][] numbers(int columns) {
        var rows = new float[LENGTH][];
        Arrays.setAll(rows, _ -> random(columns));
        return rows;
    }

    /** Rows of the sequence, and the first rows in reverse for others. */
    private Rows taken(float[][] numbers, int from, int rows, int others) {
        var taken = new ArrayList<>(Arrays.asList(numbers).subList(from, from + rows));
        taken.addAll(Arrays.asList(numbers).subList(0, others).reversed());
        return gapless(ReferenceContract.joined(taken), numbers[0].length);
    }

    private void beginBeside(int others, int passed, int from, int rows) {
        var contexts = new int[1 + others];
        var counts = new int[1 + others];
        Arrays.fill(contexts, passed);
        Arrays.fill(counts, 1);
        contexts[0] = from;
        counts[0] = rows;
        StepInputs inputs = step(WIDE, 1, contexts, counts);
        Arrays.setAll(inputs.pageTable[0], i -> i % inputs.maxPages * 3 + i / inputs.maxPages);
        begin(inputs);
    }
}
