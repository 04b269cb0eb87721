package roselle.backend;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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
}
