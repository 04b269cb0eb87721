package roselle.cpu.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cpu.CpuDevice;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A row with an adapter has the same bits alone and among rows of other adapters; a row without one is not touched. */
class LowRankProductsTest {
    private static final long SEED = 20_261_123L;
    private static final int INPUTS = 70;
    private static final int OUTPUTS = 131; // whole tiles, and part of one
    private static final int SEQUENCES = 65;

    private final Random random = new Random(SEED);

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void givesTheSameBitsAloneAndAmongSixtyFourOthers(int threads) {
        try (var device = new CpuDevice(threads);
                var arena = Arena.ofShared()) {
            var ones = new float[OUTPUTS * INPUTS];
            Weight weight = device.load("test", 1, List.of(StoredMatrix.of(tensor(ones, OUTPUTS, INPUTS, arena))));
            var adapters = new Adapter[SEQUENCES];
            for (int s = 0; s < SEQUENCES; s++) {
                int rank = 1 + s * 7 % 13;
                boolean isShared = s % 5 == 1;
                adapters[s] = isShared ? adapters[0] : device.allocateAdapter(List.of(lowRank(weight, rank, arena)));
            }
            var rows = new int[SEQUENCES];
            Arrays.setAll(rows, s -> 1 + s % 3);
            float[] input = numbers(Arrays.stream(rows).sum() * INPUTS);
            float[] before = numbers(Arrays.stream(rows).sum() * OUTPUTS);
            Arrays.setAll(adapters, s -> s % 4 == 3 ? null : adapters[s]);

            float[] together = added(device, weight, adapters, rows, input, before);
            int first = 0;
            for (int s = 0; s < SEQUENCES; s++) {
                int end = first + rows[s];
                float[] ownBefore = Arrays.copyOfRange(before, first * OUTPUTS, end * OUTPUTS);
                float[] ownInput = Arrays.copyOfRange(input, first * INPUTS, end * INPUTS);
                float[] alone =
                        added(device, weight, new Adapter[] {adapters[s]}, new int[] {rows[s]}, ownInput, ownBefore);
                assertThat(Arrays.copyOfRange(together, first * OUTPUTS, end * OUTPUTS))
                        .as("sequence %d, seed %d", s, SEED)
                        .isEqualTo(alone);
                assertThat(Arrays.equals(alone, ownBefore)).isEqualTo(adapters[s] == null);
                first = end;
            }
        }
    }

    private float[] numbers(int count) {
        var numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        return numbers;
    }

    private LowRank lowRank(Weight weight, int rank, Arena arena) {
        return new LowRank(
                weight,
                0,
                tensor(numbers(rank * INPUTS), rank, INPUTS, arena),
                tensor(numbers(OUTPUTS * rank), OUTPUTS, rank, arena),
                output -> output,
                0.5f);
    }

    private static Tensor tensor(float[] numbers, int rows, int columns, Arena arena) {
        MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_FLOAT, numbers);
        return new Tensor("test", DataType.F32, Shape.of(rows, columns), segment);
    }

    /** What rows hold after a step of sequences with these adapters has added to them. */
    private static float[] added(
            CpuDevice device,
            Weight weight,
            @Nullable Adapter[] adapters,
            int[] sequenceRows,
            float[] input,
            float[] before) {
        int count = Arrays.stream(sequenceRows).sum();
        var step = new StepInputs(new StepLimits(count, adapters.length, count, 8, 16), 0);
        step.sequences = adapters.length;
        step.adapts = true;
        for (int s = 0; s < adapters.length; s++) {
            step.adapter[s] = adapters[s];
            step.rowStart[s] = step.rows;
            step.rows += sequenceRows[s];
        }
        step.rowStart[adapters.length] = step.rows;
        Rows x = Rows.of(device.constants(input), INPUTS);
        Rows y = Rows.of(device.constants(before), OUTPUTS);
        device.submit(step, (operations, _) -> operations.adapt(x, weight, 0.75f, y));
        MemorySegment target = MemorySegment.ofArray(new float[before.length]);
        device.read(y, 0, count, target);
        return target.toArray(ValueLayout.JAVA_FLOAT);
    }
}
