package roselle.quantization.encoding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Compares blocks with those that tools/formats/encoded.py had the gguf package and ggml make. */
class EncoderTest {
    private static final int ROWS = 16;
    private static final int COLUMNS = 512;

    private static final int SPECIAL = 7; // row of zeros and of a lone number
    /** How much larger than ggml's our errors may be. */
    private static final double ROOM = 1.01;

    private static Checkpoint golden;
    private static float[] numbers;
    private static float[] importance;

    @BeforeAll
    static void open() {
        golden = Checkpoints.open(Path.of("src/test/resources/formats/encoded.safetensors"));
        numbers = Dequantizer.all(golden.tensor("numbers"));
        importance = Dequantizer.all(golden.tensor("importance"));
    }

    @AfterAll
    static void close() {
        golden.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"})
    void hasTheBitsOfTheReference(DataType type) {
        assertThat(encode(type, null)).isEqualTo(reference(type + ".blocks"));
    }

    @ParameterizedTest
    @EnumSource(names = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"})
    void isAsNearAsGgml(DataType type) {
        double ours = error(type, encode(type, null), null);
        double theirs = error(type, reference(type + ".blocks"), null);
        assertThat(ours).isBetween(theirs * 0.5, theirs * ROOM);
    }

    @ParameterizedTest
    @EnumSource(names = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"})
    void isAsNearAsGgmlInColumnsThatMatter(DataType type) {
        double ours = error(type, encode(type, importance), importance);
        double theirs = error(type, reference(type + ".weighted"), importance);
        assertThat(ours).isBetween(theirs * 0.5, theirs * ROOM);
        assertThat(ours).isLessThan(error(type, encode(type, null), importance));
    }

    /** Each error as a part of its row's size, so that no row outweighs the others. */
    private static double error(DataType type, byte[] blocks, float @Nullable [] weights) {
        var back = new float[numbers.length];
        Dequantizer.of(type).dequantize(MemorySegment.ofArray(blocks), 0, back, 0, back.length);
        double sum = 0;
        for (int row = 0; row < ROWS; row++) {
            if (row == SPECIAL) {
                continue;
            }
            double errors = 0;
            double squares = 0;
            for (int column = 0; column < COLUMNS; column++) {
                int i = row * COLUMNS + column;
                double weight = weights == null ? 1 : weights[column];
                errors += weight * Math.pow(back[i] - numbers[i], 2);
                squares += weight * Math.pow(numbers[i], 2);
            }
            sum += errors / squares;
        }
        return Math.sqrt(sum / ROWS);
    }

    @ParameterizedTest
    @EnumSource(names = {"Q4_0", "Q4_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "NVFP4", "MXFP4"})
    void keepsZerosAndExtremesFinite(DataType type) {
        var row = new float[COLUMNS];
        row[300] = 60_000;
        row[301] = -1e-30f;
        var none = new float[COLUMNS];
        for (float[] weights : new float[][] {null, none}) {
            byte[] blocks = new byte[Math.toIntExact(type.rowBytes(COLUMNS))];
            Arrays.fill(blocks, (byte) 0x55); // what was there before
            Encoder.of(type).orElseThrow().encode(row, weights, blocks, 0);
            var back = new float[COLUMNS];
            Dequantizer.of(type).dequantize(MemorySegment.ofArray(blocks), 0, back, 0, COLUMNS);
            for (int i = 0; i < COLUMNS; i++) {
                assertThat(back[i]).as("number %d", i).isBetween(-600f, 66_000f);
            }
            assertThat(back[0]).isZero();
        }
    }

    @Test
    void knowsWhatItDoesNotEncode() {
        assertThat(Encoder.of(DataType.IQ2_XXS)).isEmpty();
        assertThat(Encoder.of(DataType.I32)).isEmpty();
    }

    private static byte[] reference(String name) {
        return golden.tensor(name).data().toArray(JAVA_BYTE);
    }

    private static byte[] encode(DataType type, float @Nullable [] weights) {
        int rowBytes = Math.toIntExact(type.rowBytes(COLUMNS));
        byte[] blocks = new byte[ROWS * rowBytes];
        Encoder encoder = Encoder.of(type).orElseThrow();
        for (int row = 0; row < ROWS; row++) {
            float[] one = Arrays.copyOfRange(numbers, row * COLUMNS, (row + 1) * COLUMNS);
            encoder.encode(one, weights, blocks, row * rowBytes);
        }
        return blocks;
    }
}
