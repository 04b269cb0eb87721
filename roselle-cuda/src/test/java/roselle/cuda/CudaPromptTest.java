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
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Many rows at once have the bits that they have a few at a time, whose kernels are others. */
@Tag("gpu")
class CudaPromptTest {
    private static final int SEED = 20_261;
    private static final int ROWS = 900;
    private static final int[] CHUNKS = {100, 60, 30, 10, 5, 2}; // rows, whose kernels are others again
    private static final int COLUMNS = 640;
    private static final int SIZE = 6464; // of gates, and of ups

    private final SplittableRandom random = new SplittableRandom(SEED);

    /** What computes a product for so many rows from the first row on. */
    @FunctionalInterface
    private interface Product {
        void run(Operations operations, Rows input, int first, int rows);
    }

    /** What rows and weights are. */
    enum Products {
        BF16,
        F16,
        FP8_OF_ROWS,
        FP8_OF_BLOCKS;

        private DataType rows() {
            return this == F16 ? DataType.F16 : DataType.BF16;
        }

        private boolean areFp8() {
            return this == FP8_OF_ROWS || this == FP8_OF_BLOCKS;
        }

        private Device open() {
            return CudaPromptTest.open(new Precision(rows(), areFp8()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void productsHaveTheBitsOfFewRows(Products products) {
        DataType type = products.rows();
        try (Device device = products.open();
                Arena arena = Arena.ofShared()) { // rows are read in parallel
            Weight weight = weight(device, products, arena);
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
    @EnumSource
    void gatedProductsHaveTheBitsOfFewRows(Products products) {
        DataType type = products.rows();
        try (Device device = products.open();
                Arena arena = Arena.ofShared()) { // rows are read in parallel
            Weight weight = weight(device, products, arena);
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

    /** What normalises and multiplies at once has the bits of a norm and a product. */
    @ParameterizedTest
    @EnumSource
    void normalisedProductsHaveTheBitsOfBothApart(Products products) {
        DataType type = products.rows();
        try (Device device = products.open();
                Arena arena = Arena.ofShared()) { // rows are read in parallel
            Weight weight = weight(device, products, arena);
            Rows both = rows(device, type, 2 * SIZE);
            Rows gates = both.columns(0, SIZE);
            Rows input = rows(device, type, COLUMNS);
            Rows normed = rows(device, type, COLUMNS);
            var gate = Gate.of(Activation.SILU);
            var product = new GatedLinear(weight, Epilogue.PLAIN, both, gates, both.columns(SIZE, SIZE), gate);
            var factors = new float[COLUMNS];
            for (int i = 0; i < COLUMNS; i++) {
                factors[i] = 1f + i % 7 / 16f;
            }
            var norm = new Norm(Norm.Kind.RMS, device.constants(factors), 0f, null, 1e-5f);
            Weight table = device.loadTable("numbers", StoredMatrix.of(numbers(arena)));
            device.submit(step(ROWS), (operations, _) -> operations.embed(table, 1f, input));
            for (int rows : new int[] {ROWS, 60, 2}) {
                MemorySegment apart = run(device, arena, both, (operations, _) -> {
                    operations.norm(input, norm, normed, rows);
                    operations.linear(normed, weight, Epilogue.PLAIN, both, rows);
                });
                MemorySegment together = run(
                        device,
                        arena,
                        both,
                        (operations, _) ->
                                operations.normedLinear(input, norm, normed, weight, Epilogue.PLAIN, both, rows));
                assertThat(apart.mismatch(together)).as("%d rows", rows).isEqualTo(-1);
                apart = run(device, arena, gates, (operations, _) -> {
                    operations.norm(input, norm, normed, rows);
                    operations.gatedLinear(normed, null, normed, product, rows);
                });
                together = run(
                        device,
                        arena,
                        gates,
                        (operations, _) -> operations.gatedLinear(input, norm, normed, product, rows));
                assertThat(apart.mismatch(together)).as("%d gated rows", rows).isEqualTo(-1);
            }
        }
    }

    private static MemorySegment run(Device device, Arena arena, Rows output, StepProgram program) {
        device.submit(step(1), program);
        return read(device, arena, output);
    }

    /** Rows in FP8 change products by what rounding to three bits of fraction costs. */
    @ParameterizedTest
    @EnumSource(names = "FP8.*", mode = EnumSource.Mode.MATCH_ALL)
    void productsInFp8AreNearThoseOfRowsAsTheyAre(Products products) {
        try (Arena arena = Arena.ofShared()) {
            StoredMatrix matrix = fp8Matrix(products, arena);
            Tensor numbers = numbers(arena);
            float[] exact = product(Precision.of(DataType.BF16), matrix, numbers, arena);
            float[] rounded = product(new Precision(DataType.BF16, true), matrix, numbers, arena);
            double difference = 0;
            double size = 0;
            for (int i = 0; i < exact.length; i++) {
                difference += Math.pow((double) rounded[i] - exact[i], 2);
                size += Math.pow(exact[i], 2);
            }
            assertThat(Math.sqrt(difference / size)).isBetween(0.005, 0.04);
        }
    }

    private static float[] product(Precision precision, StoredMatrix matrix, Tensor numbers, Arena arena) {
        try (Device device = open(precision)) {
            Weight weight = device.load("test", 1, List.of(matrix));
            Rows input = rows(device, DataType.BF16, COLUMNS);
            Rows output = rows(device, DataType.BF16, 2 * SIZE);
            Weight table = device.loadTable("numbers", StoredMatrix.of(numbers));
            device.submit(step(ROWS), (operations, _) -> operations.embed(table, 1f, input));
            run(
                    device,
                    (operations, rows, first, count) -> operations.linear(rows, weight, Epilogue.PLAIN, output, count),
                    input,
                    0,
                    ROWS);
            return read(device, arena, output).toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private static Device open(Precision precision) {
        return new CudaDevice(new NativeDriver(), 0, precision, CubinCache.ofUser(), true);
    }

    private static Rows rows(Device device, DataType type, int columns) {
        return Rows.of(device.allocate(type, (long) ROWS * columns), columns);
    }

    /** Of numbers around 1, so that sums have digits to lose. */
    private Weight weight(Device device, Products products, Arena arena) {
        StoredMatrix matrix = products.areFp8() ? fp8Matrix(products, arena) : matrix(products.rows(), arena);
        return device.load("test", 1, List.of(matrix));
    }

    private StoredMatrix matrix(DataType type, Arena arena) {
        MemorySegment bytes = arena.allocate(2L * 2 * SIZE * COLUMNS, 16);
        for (long i = 0; i < 2L * SIZE * COLUMNS; i++) {
            float number = (float) random.nextDouble(-0.1, 0.1);
            short bits = type == DataType.F16
                    ? Float.floatToFloat16(number)
                    : (short) (Float.floatToRawIntBits(number) >>> 16);
            bytes.setAtIndex(ValueLayout.JAVA_SHORT, i, bits);
        }
        return StoredMatrix.of(new Tensor("test", type, Shape.of(2 * SIZE, COLUMNS), bytes));
    }

    /** Codes of numbers to 15, with a scale for each row, or each block of 128 × 128. */
    private StoredMatrix fp8Matrix(Products products, Arena arena) {
        Shape shape = Shape.of(2 * SIZE, COLUMNS);
        MemorySegment codes = arena.allocate(shape.elements());
        for (long i = 0; i < codes.byteSize(); i++) {
            codes.set(ValueLayout.JAVA_BYTE, i, (byte) (random.nextInt(0x58) | random.nextInt(2) << 7));
        }
        Group group = products == Products.FP8_OF_ROWS ? new Group(1, COLUMNS) : new Group(128, 128);
        Shape grid = group.grid(shape);
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (long i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(0.001, 0.01));
        }
        return new StoredMatrix.Scaled(
                new Tensor("test", DataType.F8_E4M3, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), 0));
    }

    private Tensor numbers(Arena arena) {
        MemorySegment numbers = arena.allocate((long) ROWS * COLUMNS * Float.BYTES, 16);
        for (long i = 0; i < (long) ROWS * COLUMNS; i++) {
            numbers.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(-1, 1));
        }
        return new Tensor("numbers", DataType.F32, Shape.of(ROWS, COLUMNS), numbers);
    }

    private void assertSameBits(Device device, Arena arena, DataType type, Rows output, Product product) {
        Rows input = rows(device, type, COLUMNS);
        Weight table = device.loadTable("numbers", StoredMatrix.of(numbers(arena)));
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
