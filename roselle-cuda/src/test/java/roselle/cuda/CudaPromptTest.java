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
import roselle.backend.Activation;
import roselle.backend.Backend;
import roselle.backend.Epilogue;
import roselle.backend.Gate;
import roselle.backend.GatedLinear;
import roselle.backend.Rows;
import roselle.backend.Weight;
import roselle.cuda.driver.NativeDriver;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Many rows at once have the bits that they have a few at a time, whose kernels are others. */
@Tag("gpu")
class CudaPromptTest {
    private static final int SEED = 20_261;
    private static final int ROWS = 900;
    private static final int CHUNK = 100;
    private static final int COLUMNS = 520;
    private static final int SIZE = 6464; // of gates, and of ups

    private final SplittableRandom random = new SplittableRandom(SEED);

    /** What computes an operation for so many rows from the first row on. */
    @FunctionalInterface
    private interface Operation {
        void run(Rows input, int first, int rows);
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void productsHaveTheBitsOfFewRows(DataType type) {
        try (Backend backend = open(type);
                Arena arena = Arena.ofConfined()) {
            Weight weight = weight(backend, type, arena);
            Rows output = rows(backend, type, 2 * SIZE);
            assertSameBits(
                    backend,
                    arena,
                    type,
                    output,
                    (input, first, rows) ->
                            backend.linear(input.from(first), weight, Epilogue.PLAIN, output.from(first), rows));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void gatedProductsHaveTheBitsOfFewRows(DataType type) {
        try (Backend backend = open(type);
                Arena arena = Arena.ofConfined()) {
            Weight weight = weight(backend, type, arena);
            Rows both = rows(backend, type, 2 * SIZE);
            Rows gates = both.columns(0, SIZE);
            Rows ups = both.columns(SIZE, SIZE);
            var gate = Gate.of(Activation.SILU);
            assertSameBits(backend, arena, type, gates, (input, first, rows) -> {
                var product = new GatedLinear(
                        weight, Epilogue.PLAIN, both.from(first), gates.from(first), ups.from(first), gate);
                backend.gatedLinear(input.from(first), null, input, product, rows);
            });
        }
    }

    private static Backend open(DataType type) {
        return new CudaBackend(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    private static Rows rows(Backend backend, DataType type, int columns) {
        return Rows.of(backend.allocate(type, (long) ROWS * columns), columns);
    }

    /** Of numbers around 1, so that sums have digits to lose. */
    private Weight weight(Backend backend, DataType type, Arena arena) {
        MemorySegment bytes = arena.allocate(2L * 2 * SIZE * COLUMNS, 16);
        for (long i = 0; i < 2L * SIZE * COLUMNS; i++) {
            float number = (float) random.nextDouble(-0.1, 0.1);
            short bits = type == DataType.F16
                    ? Float.floatToFloat16(number)
                    : (short) (Float.floatToRawIntBits(number) >>> 16);
            bytes.setAtIndex(ValueLayout.JAVA_SHORT, i, bits);
        }
        return backend.load("test", 1, List.of(new Tensor("test", type, Shape.of(2 * SIZE, COLUMNS), bytes)));
    }

    private void assertSameBits(Backend backend, Arena arena, DataType type, Rows output, Operation operation) {
        Rows input = rows(backend, type, COLUMNS);
        MemorySegment numbers = arena.allocate((long) ROWS * COLUMNS * Float.BYTES, 16);
        for (long i = 0; i < (long) ROWS * COLUMNS; i++) {
            numbers.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(-1, 1));
        }
        backend.write(numbers, input, 0, ROWS);
        operation.run(input, 0, ROWS);
        MemorySegment atOnce = read(backend, arena, output);
        for (int first = 0; first < ROWS; first += CHUNK) {
            operation.run(input, first, CHUNK);
        }
        MemorySegment inChunks = read(backend, arena, output);
        assertThat(atOnce.mismatch(inChunks)).as("seed %d", SEED).isEqualTo(-1);
        boolean isZero = atOnce.asSlice(0, 4L * ROWS).mismatch(arena.allocate(4L * ROWS)) == -1;
        assertThat(isZero).as("all numbers are zeros").isFalse();
    }

    private static MemorySegment read(Backend backend, Arena arena, Rows output) {
        MemorySegment numbers = arena.allocate((long) ROWS * output.columns() * Float.BYTES, 16);
        backend.read(output, 0, ROWS, numbers);
        return numbers;
    }
}
