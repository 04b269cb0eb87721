package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Many rows at once have the bits that they have a few at a time, whose kernels are others. */
@Tag("gpu")
class CudaPromptTest {
    private static final int SEED = 20_261;
    private static final int ROWS = 900;
    private static final int[] CHUNKS = {100, 60, 30}; // rows, whose kernels are others again
    private static final int COLUMNS = 520;
    private static final int SIZE = 6464; // of gates, and of ups

    private final SplittableRandom random = new SplittableRandom(SEED);

    /** What computes a product for so many rows from the first row on. */
    @FunctionalInterface
    private interface Product {
        void run(Operations operations, Rows input, int first, int rows);
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void productsHaveTheBitsOfFewRows(DataType type) {
        try (Device device = open(type);
                Arena arena = Arena.ofShared()) { // rows are read in parallel
            Weight weight = weight(device, type, arena);
            Rows output = rows(device, type, 2 * SIZE);
            assertSameBits(
                    device,
                    arena,
                    type,
                    output,
                    (operations, input, first, rows) ->
                            operations.linear(input.from(first), weight, Epilogue.PLAIN, output.from(first), rows));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void gatedProductsHaveTheBitsOfFewRows(DataType type) {
        try (Device device = open(type);
                Arena arena = Arena.ofShared()) { // rows are read in parallel
            Weight weight = weight(device, type, arena);
            Rows both = rows(device, type, 2 * SIZE);
            Rows gates = both.columns(0, SIZE);
            Rows ups = both.columns(SIZE, SIZE);
            var gate = Gate.of(Activation.SILU);
            assertSameBits(device, arena, type, gates, (operations, input, first, rows) -> {
                var product = new GatedLinear(
                        weight, Epilogue.PLAIN, both.from(first), gates.from(first), ups.from(first), gate);
                operations.gatedLinear(input.from(first), null, input, product, rows);
            });
        }
    }

    private static Device open(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    private static Rows rows(Device device, DataType type, int columns) {
        return Rows.of(device.allocate(type, (long) ROWS * columns), columns);
    }

    /** Of numbers around 1, so that sums have digits to lose. */
    private Weight weight(Device device, DataType type, Arena arena) {
        MemorySegment bytes = arena.allocate(2L * 2 * SIZE * COLUMNS, 16);
        for (long i = 0; i < 2L * SIZE * COLUMNS; i++) {
            float number = (float) random.nextDouble(-0.1, 0.1);
            short bits = type == DataType.F16
                    ? Float.floatToFloat16(number)
                    : (short) (Float.floatToRawIntBits(number) >>> 16);
            bytes.setAtIndex(ValueLayout.JAVA_SHORT, i, bits);
        }
        return device.load(
                "test", 1, List.of(StoredMatrix.of(new Tensor("test", type, Shape.of(2 * SIZE, COLUMNS), bytes))));
    }

    private void assertSameBits(Device device, Arena arena, DataType type, Rows output, Product product) {
        Rows input = rows(device, type, COLUMNS);
        MemorySegment numbers = arena.allocate((long) ROWS * COLUMNS * Float.BYTES, 16);
        for (long i = 0; i < (long) ROWS * COLUMNS; i++) {
            numbers.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(-1, 1));
        }
        Weight table = device.loadTable(
                "numbers", StoredMatrix.of(new Tensor("numbers", DataType.F32, Shape.of(ROWS, COLUMNS), numbers)));
        device.submit(step(ROWS), (operations, _) -> operations.embed(table, 1f, input));
        run(device, product, input, 0, ROWS);
        MemorySegment atOnce = read(device, arena, output);
        for (int chunk : CHUNKS) {
            for (int first = 0; first < ROWS; first += chunk) {
                run(device, product, input, first, chunk);
            }
            MemorySegment inChunks = read(device, arena, output);
            assertThat(atOnce.mismatch(inChunks))
                    .as("rows in chunks of %d, seed %d", chunk, SEED)
                    .isEqualTo(-1);
        }
        boolean isZero = atOnce.asSlice(0, 4L * ROWS).mismatch(arena.allocate(4L * ROWS)) == -1;
        assertThat(isZero).as("all numbers are zeros").isFalse();
    }

    private static void run(Device device, Product product, Rows input, int first, int rows) {
        device.submit(step(1), (operations, _) -> product.run(operations, input, first, rows));
    }

    /** A step of so many rows of one sequence. */
    private static StepInputs step(int rows) {
        var inputs = new StepInputs(new StepLimits(ROWS, 1, 1, ROWS, 16), 0);
        inputs.rows = rows;
        inputs.sequences = 1;
        inputs.rowStart[1] = rows;
        for (int row = 0; row < rows; row++) {
            inputs.tokenIds[row] = row;
            inputs.positions[row] = row;
        }
        return inputs;
    }

    private static MemorySegment read(Device device, Arena arena, Rows output) {
        MemorySegment numbers = arena.allocate((long) ROWS * output.columns() * Float.BYTES, 16);
        device.read(output, 0, ROWS, numbers);
        return numbers;
    }
}
