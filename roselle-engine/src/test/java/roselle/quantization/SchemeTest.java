package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What a scheme says of one tensor, and what it makes of two. */
class SchemeTest {
    private static final long SEED = 20_261;

    private final Random random = new Random(SEED);

    @ParameterizedTest
    @CsvSource({
        "Q4_0, 32, 16, 0",
        "Q4_1, 32, 16, 16",
        "Q8_0, 32, 16, 0",
        "Q2_K, 16, 4, 4",
        "Q4_K, 32, 6, 6",
        "Q6_K, 16, 8, 0",
        "MXFP4, 32, 8, 0"
    })
    void saysWhichNeighboursShareAScale(DataType type, int columns, int scaleBits, int offsetBits) {
        Scheme scheme = Scheme.of(type);
        assertThat(scheme.group()).isEqualTo(new Group(1, columns));
        assertThat(scheme.scales()).isEqualTo(new Place.InBlocks(scaleBits));
        assertThat(scheme.offsets()).isEqualTo(offsetBits == 0 ? new Place.Nowhere() : new Place.InBlocks(offsetBits));
        assertThat(scheme.describe()).isEqualTo(type.label());
    }

    @ParameterizedTest
    @EnumSource(names = {"F32", "BF16", "F8_E4M3"})
    void plainNumbersHaveNoScales(DataType type) {
        assertThat(Scheme.of(type).scales()).isEqualTo(new Place.Nowhere());
        assertThat(Scheme.of(type).offsets()).isEqualTo(new Place.Nowhere());
    }

    @ParameterizedTest
    @CsvSource({
        "128, 128, 144, 300, F32",
        "128, 128, 128, 128, BF16",
        "128, 128, 5, 7, F16",
        "3, 5, 10, 12, F32",
        "1, 1048576, 9, 33, F32",
        "1048576, 1048576, 9, 33, BF16"
    })
    void multipliesEachCodeWithTheScaleOfItsGroup(int high, int wide, int rows, int columns, DataType scaleType) {
        try (Arena arena = Arena.ofConfined()) {
            Scheme scheme = Scheme.withScales(DataType.F8_E5M2, new Group(high, wide), "_scales");
            Tensor codes = codes(arena, rows, columns);
            Tensor scales = scales(arena, scaleType, Shape.of(Math.ceilDiv(rows, high), Math.ceilDiv(columns, wide)));
            StoredMatrix matrix = scheme.bind("model", codes, scales);
            float[] values = Dequantizer.all(codes);
            float[] factors = Dequantizer.all(scales);
            float[] numbers = matrix.numbers();
            float[] below = matrix.rows(2, rows - 3L).numbers(); // begins and ends within groups
            for (int i = 0; i < numbers.length; i++) {
                int row = i / columns;
                float expected = values[i] * factors[row / high * Math.ceilDiv(columns, wide) + i % columns / wide];
                assertThat(numbers[i]).as("number %d, seed %d", i, SEED).isEqualTo(expected);
                if (row >= 2 && row < rows - 1) {
                    assertThat(below[i - 2 * columns])
                            .as("number %d of the part", i)
                            .isEqualTo(expected);
                }
            }
            assertThat(matrix.bytes())
                    .isEqualTo(codes.data().byteSize() + scales.data().byteSize());
        }
    }

    @Test
    void multipliesPlacesInATableWithTheScaleOfTheirGroup() {
        try (Arena arena = Arena.ofConfined()) {
            float[] values = {-1f, 0.25f, 0.7f};
            int columns = 7;
            byte[] places = {0, 1, 2, 2, 1, 0, 0, 1, 1, 2, 0, 2, 1, 2};
            Tensor scales = scales(arena, DataType.F32, Shape.of(2, 3));
            var codes = new Tensor("weight", DataType.I8, Shape.of(2, columns), MemorySegment.ofArray(places));
            var matrix =
                    new StoredMatrix.Tabled(codes, CodeValues.of(values), new GroupScales(new Group(1, 3), scales, 0));
            float[] factors = Dequantizer.all(scales);
            for (int i = 0; i < places.length; i++) {
                float expected = values[places[i]] * factors[i / columns * 3 + i % columns / 3];
                assertThat(matrix.numbers()[i])
                        .as("number %d, seed %d", i, SEED)
                        .isEqualTo(expected);
            }
            assertThat(matrix.rows(1, 1).numbers())
                    .containsExactly(Arrays.copyOfRange(matrix.numbers(), columns, 2 * columns));
            assertThat(matrix.bytes()).isEqualTo(14 + 6 * 4);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {0f, -0f, -1f, Float.NaN, Float.POSITIVE_INFINITY})
    void refusesScalesThatAreNotPositiveNumbers(float wrong) {
        try (Arena arena = Arena.ofConfined()) {
            Tensor scales = scales(arena, DataType.F32, Shape.of(2, 3));
            scales.data().setAtIndex(ValueLayout.JAVA_FLOAT, 4, wrong);
            assertThatThrownBy(() -> blocks().bind("model", codes(arena, 200, 300), scales))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessage("model: tensor weight_scales has the scale " + wrong
                            + " at 4; scales are positive and finite");
        }
    }

    @Test
    void refusesScalesOfAnotherShapeOrType() {
        try (Arena arena = Arena.ofConfined()) {
            Tensor codes = codes(arena, 200, 300);
            assertThatThrownBy(() -> blocks().bind("model", codes, scales(arena, DataType.F32, Shape.of(3, 2))))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessage("model: tensor weight_scales has shape [3, 2], expected [2, 3], one scale for each"
                            + " 128×128 of [200, 300]");
            var whole = new Tensor("weight_scales", DataType.I8, Shape.of(2, 3), arena.allocate(6));
            assertThatThrownBy(() -> blocks().bind("model", codes, whole))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessage("model: tensor weight_scales is i8; scales can be f32, f16 or bf16");
        }
    }

    private static Scheme blocks() {
        return Scheme.withScales(DataType.F8_E5M2, new Group(128, 128), "_scales");
    }

    /** Codes of any finite number. */
    private Tensor codes(Arena arena, int rows, int columns) {
        MemorySegment data = arena.allocate((long) rows * columns);
        for (long i = 0; i < data.byteSize(); i++) {
            data.set(ValueLayout.JAVA_BYTE, i, (byte) (random.nextInt(0x7c) | random.nextInt(2) << 7));
        }
        return new Tensor("weight", DataType.F8_E5M2, Shape.of(rows, columns), data);
    }

    private Tensor scales(Arena arena, DataType type, Shape shape) {
        MemorySegment data = arena.allocate(type.rowBytes(shape.elements()), 8);
        for (long i = 0; i < shape.elements(); i++) {
            float scale = 0.01f + random.nextFloat();
            if (type == DataType.F32) {
                data.setAtIndex(ValueLayout.JAVA_FLOAT, i, scale);
            } else if (type == DataType.F16) {
                data.set(JAVA_SHORT_UNALIGNED, 2 * i, Float.floatToFloat16(scale));
            } else {
                data.set(JAVA_SHORT_UNALIGNED, 2 * i, (short) (Float.floatToIntBits(scale) >>> 16));
            }
        }
        return new Tensor("weight_scales", type, shape, data);
    }
}
