package roselle.quantization;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

class ScaledBlocksTest {
    private static final int ROWS = 9;
    private static final int COLUMNS = 384;

    private static StoredMatrix.Scaled matrix(Arena arena, DataType type, Group group, int columns, long skipped) {
        var random = new Random(7);
        var codes = new byte[ROWS * columns];
        random.nextBytes(codes);
        MemorySegment data = arena.allocate(codes.length).copyFrom(MemorySegment.ofArray(codes));
        Shape grid = group.grid(Shape.of(ROWS + skipped, columns));
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (long i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, 0.01f + random.nextFloat());
        }
        return new StoredMatrix.Scaled(
                new Tensor("weight", type, Shape.of(ROWS, columns), data),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), skipped));
    }

    @ParameterizedTest
    @CsvSource({"128, 128, 0", "4, 128, 3", "2, 256, 1", "1, 384, 0", "1000, 1000, 0"})
    void rowsOfBlocksAreTheNumbersOfTheMatrixBitForBit(int groupRows, int groupColumns, long skipped) {
        try (var arena = Arena.ofConfined()) {
            var matrix = matrix(arena, DataType.F8_E4M3, new Group(groupRows, groupColumns), COLUMNS, skipped);
            ScaledBlocks blocks = ScaledBlocks.of(matrix).orElseThrow();
            float[] expected = matrix.numbers();
            var row = new float[COLUMNS];
            MemorySegment written = arena.allocate(blocks.rowBytes() + 3);
            for (int r = 0; r < ROWS; r++) {
                blocks.writeRow(r, written, 3);
                Dequantizer.of(blocks.type()).dequantize(written, 3, row, 0, COLUMNS);
                for (int i = 0; i < COLUMNS; i++) {
                    assertThat(Float.floatToIntBits(row[i]))
                            .as("row %d, column %d", r, i)
                            .isEqualTo(Float.floatToIntBits(expected[r * COLUMNS + i]));
                }
            }
        }
    }

    private static StoredMatrix.Scaled wholeNumbers(Arena arena, int bits, int size, int columns) {
        var random = new Random(8);
        Shape shape = Shape.of(ROWS, columns);
        var group = new Group(1, size);
        Shape grid = group.grid(shape);
        MemorySegment codes = arena.allocate(shape.elements());
        for (long row = 0; row < ROWS; row++) {
            for (long first = 0; first < columns; first += size) {
                int zero = random.nextInt((1 << bits) + 1) % 129;
                for (long column = first; column < Math.min(columns, first + size); column++) {
                    int code = Math.min(random.nextInt(1 << bits), 127 + zero);
                    codes.set(ValueLayout.JAVA_BYTE, row * columns + column, (byte) (code - zero));
                }
            }
        }
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (long i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, 0.01f + random.nextFloat());
        }
        return new StoredMatrix.Scaled(
                new Tensor("weight", DataType.I8, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), 0),
                bits);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 128, 384, I4_128",
        "3, 1000, 384, I4_128",
        "4, 128, 384, I4_128",
        "4, 64, 384, I4_32",
        "4, 32, 96, I4_32",
        "4, 96, 96, I4_32",
        "5, 128, 384, I8_128",
        "8, 32, 384, I8_32",
        "8, 384, 384, I8_128"
    })
    void wholeNumbersAreBlocksOfTheirBits(int bits, int size, int columns, DataType type) {
        try (var arena = Arena.ofConfined()) {
            var matrix = wholeNumbers(arena, bits, size, columns);
            ScaledBlocks blocks = ScaledBlocks.of(matrix).orElseThrow();
            assertThat(blocks.type()).isEqualTo(type);
            float[] expected = matrix.numbers();
            var row = new float[columns];
            MemorySegment written = arena.allocate(blocks.rowBytes());
            for (int r = 0; r < ROWS; r++) {
                blocks.writeRow(r, written, 0);
                Dequantizer.of(type).dequantize(written, 0, row, 0, columns);
                assertThat(row).containsExactly(Arrays.copyOfRange(expected, r * columns, (r + 1) * columns));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 32", "4, 128", "8, 64"})
    void columnsThatShareAScaleBecomeNeighbours(int bits, int size) {
        try (var arena = Arena.ofConfined()) {
            var plain = wholeNumbers(arena, bits, size, COLUMNS);
            int groups = COLUMNS / size;
            MemorySegment of = arena.allocate(COLUMNS * 4L, 4);
            for (int column = 0; column < COLUMNS; column++) {
                of.setAtIndex(ValueLayout.JAVA_INT, column, column % groups);
            }
            var order = new Tensor("g_idx", DataType.I32, Shape.of(COLUMNS), of);
            var scales = plain.scales();
            var matrix =
                    new StoredMatrix.Scaled(plain.codes(), new GroupScales(scales.group(), scales.grid(), 0, order), 8);
            ScaledBlocks blocks = ScaledBlocks.of(matrix).orElseThrow();
            ColumnOrder columns = Objects.requireNonNull(blocks.order());
            float[] expected = matrix.numbers();
            var row = new float[COLUMNS];
            MemorySegment written = arena.allocate(blocks.rowBytes());
            for (int r = 0; r < ROWS; r++) {
                blocks.writeRow(r, written, 0);
                Dequantizer.of(blocks.type()).dequantize(written, 0, row, 0, COLUMNS);
                for (int place = 0; place < COLUMNS; place++) {
                    int column = place % size * groups + place / size;
                    assertThat(columns.at(place)).isEqualTo(column);
                    assertThat(row[place]).isEqualTo(expected[r * COLUMNS + column]);
                }
            }
            of.setAtIndex(ValueLayout.JAVA_INT, 0, 1); // a group has a column too many
            assertThat(ScaledBlocks.of(matrix)).isEmpty();
        }
    }

    @Test
    void groupsThatAreNoWholeBlocksAreNone() {
        try (var arena = Arena.ofConfined()) {
            assertThat(ScaledBlocks.of(wholeNumbers(arena, 4, 16, 64))).isEmpty();
            assertThat(ScaledBlocks.of(wholeNumbers(arena, 8, 32, 80))).isEmpty();
        }
    }

    @Test
    void matricesThatAreNotMadeOfBlocksHaveNone() {
        try (var arena = Arena.ofConfined()) {
            assertThat(ScaledBlocks.of(matrix(arena, DataType.F8_E4M3, new Group(128, 64), COLUMNS, 0)))
                    .isEmpty();
            assertThat(ScaledBlocks.of(matrix(arena, DataType.F8_E4M3, new Group(3, 200), COLUMNS, 0)))
                    .isEmpty();
            assertThat(ScaledBlocks.of(matrix(arena, DataType.F8_E4M3, new Group(128, 128), 200, 0)))
                    .isEmpty();
            assertThat(ScaledBlocks.of(matrix(arena, DataType.F8_E5M2, new Group(128, 128), COLUMNS, 0)))
                    .isEmpty();
        }
    }
}
