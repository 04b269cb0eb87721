package roselle.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.AttentionLayer;
import roselle.backend.Buffer;
import roselle.backend.HeadShape;
import roselle.backend.KvGroup;
import roselle.backend.Rows;
import roselle.backend.StepInputs;
import roselle.backend.StepLimits;
import roselle.tensor.DataType;

class AttentionTest {
    private static final int CONTEXT = 150;
    private static final int PAGE_TOKENS = 16;

    private final Random random = new Random(11);

    @ParameterizedTest
    @CsvSource({
        "F32, 4, 2, 64, 64, 0, 0, false, 1",
        "F16, 4, 1, 32, 32, 0, 0, false, 2",
        "BF16, 6, 2, 40, 24, 0, 30, false, 3",
        "F32, 4, 4, 8, 8, 20, 0, true, 1",
        "F16, 20, 1, 72, 64, 70, 0, true, 2"
    })
    void givesTheBitsOfTheScalarTwinForPromptsAndSingleTokens(
            DataType type,
            int queryHeads,
            int keyHeads,
            int keySize,
            int valueSize,
            int window,
            float softCap,
            boolean hasSinks,
            int threads) {
        var limits = new StepLimits(CONTEXT + 2, 2, 1, CONTEXT, PAGE_TOKENS);
        var inputs = new StepInputs(limits, 1);
        var group = new KvGroup("full", 1, keyHeads, keySize, valueSize, window);
        try (var backend = new CpuBackend(threads)) {
            var cache = (CpuKvCache)
                    backend.allocateKvCache(List.of(group), type, PAGE_TOKENS, new int[] {2 * limits.maxPages()});
            fillCache(cache, 2 * limits.maxPages(), keyHeads, keySize, valueSize);
            // a prompt of one sequence, its first 30 tokens computed before, and one token of another
            inputs.sequences = 2;
            inputs.rowStart[1] = CONTEXT - 30;
            inputs.rowStart[2] = CONTEXT - 29;
            inputs.contextLength[0] = 30;
            inputs.contextLength[1] = 99;
            inputs.rows = CONTEXT - 29;
            for (int row = 0; row < inputs.rows; row++) {
                inputs.positions[row] = row < CONTEXT - 30 ? 30 + row : 99;
            }
            for (int page = 0; page < inputs.pageTable[0].length; page++) {
                inputs.pageTable[0][page] = inputs.pageTable[0].length - 1 - page;
            }
            Buffer sinks = hasSinks ? backend.constants(numbers(queryHeads)) : null;
            var layer = new AttentionLayer(
                    0,
                    0,
                    new HeadShape(queryHeads, keyHeads, keySize, valueSize),
                    null,
                    null,
                    null,
                    0.2f,
                    softCap,
                    sinks);
            Rows query = Rows.of(backend.constants(numbers(inputs.rows * queryHeads * keySize)), queryHeads * keySize);
            int width = queryHeads * valueSize;
            Rows output = Rows.of(backend.allocate(DataType.F32, (long) inputs.rows * width), width);
            Rows twin = Rows.of(backend.allocate(DataType.F32, (long) inputs.rows * width), width);
            CpuBuffer.of(output).fill((byte) 0xff);
            backend.begin(inputs);
            backend.attention(query, layer, cache, output);
            var step = new Step(inputs);
            for (int row = 0; row < inputs.rows; row++) {
                Attention.scalar(step, query, layer, cache, twin, row, 0, queryHeads);
            }
            for (int i = 0; i < inputs.rows * width; i++) {
                assertThat(CpuBuffer.number(CpuBuffer.of(output), i))
                        .as("number %d of row %d", i % width, i / width)
                        .isEqualTo(CpuBuffer.number(CpuBuffer.of(twin), i));
            }
        }
    }

    /** What lies behind the positions of a sequence is poison. */
    private void fillCache(CpuKvCache cache, int pages, int heads, int keySize, int valueSize) {
        cache.segment(0).fill((byte) 0xff);
        int bytes = cache.type().blockBytes();
        for (int position = 0; position < CONTEXT; position++) {
            for (int sequence = 0; sequence < 2; sequence++) {
                int page = pages - 1 - (sequence * (pages / 2) + position / PAGE_TOKENS);
                for (int head = 0; head < heads; head++) {
                    long key = cache.key(0, 0, page, head, position % PAGE_TOKENS);
                    long value = cache.value(0, 0, page, head, position % PAGE_TOKENS);
                    for (int i = 0; i < keySize; i++) {
                        ScalarFormats.store(cache.type(), cache.segment(0), (key + i) * bytes, number());
                    }
                    for (int i = 0; i < valueSize; i++) {
                        ScalarFormats.store(cache.type(), cache.segment(0), (value + i) * bytes, number());
                    }
                }
            }
        }
    }

    private float[] numbers(int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = number();
        }
        return numbers;
    }

    private float number() {
        return (float) random.nextGaussian();
    }
}
