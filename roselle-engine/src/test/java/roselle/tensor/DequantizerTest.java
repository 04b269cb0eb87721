package roselle.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;

/** Compares each conversion with the blocks that tools/formats/golden.py wrote. */
class DequantizerTest {
    private static Checkpoint golden;

    @BeforeAll
    static void open() {
        golden = Checkpoints.open(Path.of("src/test/resources/formats/golden.safetensors"));
    }

    @AfterAll
    static void close() {
        golden.close();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"BOOL", "F8_E4M3_128", "I8_128", "I8_32", "I4_128", "I4_32"})
    void equalsTheReferenceBitForBit(DataType type) {
        MemorySegment blocks = golden.tensor(type + ".blocks").data();
        float[] expected = Dequantizer.all(golden.tensor(type + ".values"));
        float[] actual = new float[expected.length + 2];
        Dequantizer.of(type).dequantize(blocks, 0, actual, 1, expected.length);
        assertThat(type.rowBytes(expected.length)).isEqualTo(blocks.byteSize());
        for (int i = 0; i < expected.length; i++) {
            assertThat(Float.floatToIntBits(actual[i + 1]))
                    .as("element %d: %s, expected %s", i, actual[i + 1], expected[i])
                    .isEqualTo(Float.floatToIntBits(expected[i]));
        }
        assertThat(actual[0]).as("before the target").isZero();
        assertThat(actual[actual.length - 1]).as("behind the target").isZero();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"BOOL", "F8_E4M3_128", "I8_128", "I8_32", "I4_128", "I4_32"})
    void readsFromAnyByteOfTheSource(DataType type) {
        MemorySegment blocks = golden.tensor(type + ".blocks").data().asSlice(0, type.blockBytes());
        float[] expected = new float[type.blockElements()];
        Dequantizer.of(type).dequantize(blocks, 0, expected, 0, expected.length);
        float[] actual = new float[expected.length];
        try (var arena = Arena.ofConfined()) {
            MemorySegment moved = arena.allocate(blocks.byteSize() + 3, 8);
            moved.asSlice(3).copyFrom(blocks);
            Dequantizer.of(type).dequantize(moved, 3, actual, 0, actual.length);
        }
        assertThat(actual).containsExactly(expected);
    }

    @Test
    void readsTheFloatsThatTheOthersAreComparedWithAsTheyAre() {
        MemorySegment stored = golden.tensor("F32.blocks").data();
        float[] numbers = Dequantizer.all(golden.tensor("F32.values"));
        var layout = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < numbers.length; i++) {
            assertThat(Float.floatToRawIntBits(numbers[i])).isEqualTo(stored.get(layout, 4L * i));
        }
    }

    @Test
    void readsEveryByteButZeroAsTrue() {
        float[] numbers = new float[3];
        MemorySegment flags = MemorySegment.ofArray(new byte[] {0, 1, (byte) 0xFF});
        Dequantizer.of(DataType.BOOL).dequantize(flags, 0, numbers, 0, 3);
        assertThat(numbers).containsExactly(0, 1, 1);
    }

    @Test
    void convertsOneRowOfATensor() {
        MemorySegment data = MemorySegment.ofArray(new byte[2 * 34]);
        data.set(ValueLayout.JAVA_BYTE, 34 + 1, (byte) 0x3C); // the second row's scale is 1
        data.set(ValueLayout.JAVA_BYTE, 34 + 2 + 7, (byte) -5);
        Tensor tensor = new Tensor("t", DataType.Q8_0, Shape.of(2, 32), data);
        float[] row = new float[33];
        Dequantizer.row(tensor, 1, row, 1);
        float[] expected = new float[33];
        expected[8] = -5;
        assertThat(row).containsExactly(expected);
        assertThat(Arrays.copyOfRange(Dequantizer.all(tensor), 32, 64)).containsExactly(Arrays.copyOfRange(row, 1, 33));
    }

    @Test
    void refusesHalfABlock() {
        assertThatThrownBy(() -> Dequantizer.of(DataType.Q4_0)
                        .dequantize(MemorySegment.ofArray(new byte[18]), 0, new float[32], 0, 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("whole blocks of Q4_0");
    }
}
