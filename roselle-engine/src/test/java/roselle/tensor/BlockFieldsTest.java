package roselle.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where the fields of a block are said to lie is where its conversion finds them. */
class BlockFieldsTest {
    static Stream<DataType> described() {
        return Arrays.stream(DataType.values()).filter(type -> type.fields().isPresent());
    }

    private static byte[] randomBlocks(DataType type, int blocks) {
        var bytes = new byte[blocks * type.blockBytes()];
        new Random(type.blockBytes()).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("described")
    void giveTheNumbersOfTheConversionBitForBit(DataType type) {
        int blocks = 200;
        MemorySegment source = MemorySegment.ofArray(randomBlocks(type, blocks));
        int count = type.blockElements();
        var expected = new float[blocks * count];
        var actual = new float[blocks * count];
        Dequantizer.of(type).dequantize(source, 0, expected, 0, expected.length);
        Dequantizer.OneBlock derived =
                type.fields().orElseThrow().dequantizer(type.packing().group());
        for (int block = 0; block < blocks; block++) {
            derived.dequantize(source, (long) block * type.blockBytes(), actual, block * count);
        }
        for (int i = 0; i < expected.length; i++) {
            assertThat(Float.floatToIntBits(actual[i])).as("number %d", i).isEqualTo(Float.floatToIntBits(expected[i]));
        }
    }

    @ParameterizedTest
    @MethodSource("described")
    void unpackEightCodesToAWord(DataType type) {
        MemorySegment source = MemorySegment.ofArray(randomBlocks(type, 2));
        PackedNumbers codes = type.fields().orElseThrow().codes();
        assertThat(codes.count()).isEqualTo(type.blockElements());
        assertThat(codes.values().count()).isEqualTo(1 << type.packing().bits());
        var eights = new long[codes.count() / 8];
        Arrays.fill(eights, -1);
        codes.unpack(source, type.blockBytes(), eights);
        for (int i = 0; i < codes.count(); i++) {
            assertThat((int) (eights[i / 8] >>> (i % 8 * 8)) & 0xFF)
                    .as("code %d", i)
                    .isEqualTo(codes.code(source, type.blockBytes(), i));
        }
    }

    /** Flipping any bit of a block changes what is read of it, so that no field was forgotten. */
    @ParameterizedTest
    @MethodSource("described")
    void leaveNoBitOut(DataType type) {
        byte[] bytes = randomBlocks(type, 1);
        BlockFields fields = type.fields().orElseThrow();
        String before = read(type, fields, bytes);
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            bytes[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThat(read(type, fields, bytes)).as("bit %d", bit).isNotEqualTo(before);
            bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        }
    }

    private static String read(DataType type, BlockFields fields, byte[] bytes) {
        MemorySegment source = MemorySegment.ofArray(bytes);
        var text = new StringBuilder();
        for (int i = 0; i < type.blockElements(); i++) {
            text.append(fields.codes().code(source, 0, i)).append(' ');
        }
        BlockFactor minimum = fields.minimum();
        for (BlockFactor factor :
                minimum == null ? new BlockFactor[] {fields.scale()} : new BlockFactor[] {fields.scale(), minimum}) {
            for (int i = 0; i < factor.encoding().bytes(); i++) {
                text.append(bytes[factor.at() + i]).append(' ');
            }
            PackedNumbers parts = factor.parts();
            for (int group = 0;
                    parts != null
                            && group < type.blockElements() / type.packing().group();
                    group++) {
                text.append(parts.code(source, 0, group)).append(' ');
            }
        }
        return text.toString();
    }

    @Test
    void codesSayWhatTheyAre() {
        assertThat(CodeValues.less(4, 8).areLinear()).isTrue();
        assertThat(CodeValues.less(4, 8).arePlain()).isFalse();
        assertThat(CodeValues.unsigned(5).arePlain()).isTrue();
        assertThat(CodeValues.signed(8).areSigned()).isTrue();
        assertThat(CodeValues.signed(8).areLinear()).isFalse();
        assertThat(CodeValues.signed(8).of(0xFF)).isEqualTo(-1);
        assertThat(CodeValues.table(0, 1, 3, 4).areLinear()).isFalse();
    }
}
