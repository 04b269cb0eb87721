package roselle.quantization;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
