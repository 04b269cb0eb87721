package roselle.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantizerTest {
    /** Half a step of the block's range of about 8, with room for the rounding of the scales. */
    @ParameterizedTest
    @CsvSource({
        "F32, 0",
        "F16, 0.002",
        "BF16, 0.02",
        "Q8_0, 0.03",
        "Q4_0, 0.6",
        "Q4_1, 0.35",
        "Q5_0, 0.3",
        "Q5_1, 0.2",
        "Q4_K, 0.5",
        "Q6_K, 0.16"
    })
    void staysWithinTheStepOfItsFormat(DataType type, float tolerance) {
        Random random = new Random(11);
        float[] numbers = new float[1024];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Math.clamp((float) random.nextGaussian(), -4f, 4f);
        }
        float[] back = new float[numbers.length];
        Dequantizer.of(type).dequantize(Quantizer.quantize(type, numbers), 0, back, 0, back.length);
        float worst = 0;
        for (int i = 0; i < back.length; i++) {
            worst = Math.max(worst, Math.abs(back[i] - numbers[i]));
        }
        assertThat(worst).isLessThanOrEqualTo(tolerance);
        if (type != DataType.F32) {
            assertThat(worst).as("not a copy").isGreaterThan(tolerance / 20);
        }
    }

    @ParameterizedTest
    @CsvSource({"F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q6_K"})
    void keepsZeros(DataType type) {
        float[] numbers = new float[512];
        float[] back = new float[512];
        Dequantizer.of(type).dequantize(Quantizer.quantize(type, numbers), 0, back, 0, back.length);
        for (float number : back) {
            assertThat(Math.abs(number)).isZero(); // of either sign
        }
    }
}
