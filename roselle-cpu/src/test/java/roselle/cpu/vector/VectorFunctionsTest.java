package roselle.cpu.vector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.backend.operation.Activation;
import roselle.cpu.attention.AttentionCall;
import roselle.cpu.twin.ScalarFunctions;
import roselle.cpu.twin.ScalarLanes;

class VectorFunctionsTest {
    private static final float[] SPECIAL = {
        0f,
        -0f,
        1f,
        -1f,
        1e-30f,
        -1e-30f,
        88.7f,
        89f,
        1e30f,
        -87.4f,
        -103f,
        -104f,
        -1e30f,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.NaN
    };

    private final Random random = new Random(25);

    @Test
    void exponentialIsWithinTwoUnitsInTheLastPlace() {
        for (int i = 0; i < 200_000; i++) {
            float x = -87f + 175f * random.nextFloat();
            double exact = Math.exp(x);
            assertThat(Math.abs(VectorFunctions.exp(x) - exact))
                    .as("exp(%s)", x)
                    .isLessThanOrEqualTo(2 * Math.ulp((float) exact));
        }
    }

    @Test
    void exponentialOfWhatNoFloatHoldsIsZeroInfinityOrNan() {
        assertThat(VectorFunctions.exp(Float.NEGATIVE_INFINITY)).isEqualTo(0f);
        assertThat(VectorFunctions.exp(-200f)).isEqualTo(0f);
        assertThat(VectorFunctions.exp(100f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(VectorFunctions.exp(Float.NaN)).isNaN();
        assertThat(VectorFunctions.exp(0f)).isEqualTo(1f);
    }

    @Test
    void hyperbolicTangentIsWithinFourUnitsInTheLastPlace() {
        for (int i = 0; i < 200_000; i++) {
            float x = (float) (random.nextGaussian() * Math.pow(10, random.nextInt(6) - 4));
            double exact = Math.tanh(x);
            assertThat(Math.abs(VectorFunctions.tanh(x) - exact))
                    .as("tanh(%s)", x)
                    .isLessThanOrEqualTo(4 * Math.ulp((float) exact));
        }
        assertThat(VectorFunctions.tanh(Float.NEGATIVE_INFINITY)).isEqualTo(-1f);
        assertThat(VectorFunctions.tanh(-0f)).isEqualTo(-0f);
        assertThat(VectorFunctions.tanh(Float.NaN)).isNaN();
    }

    @Test
    void capsAndSigmoidsGiveTheBitsOfTheScalarTwin() {
        for (int count : new int[] {1, 5, SPECIAL.length, 100}) {
            float[] numbers = special(count);
            float[] capped = numbers.clone();
            float[] sigmoids = numbers.clone();
            VectorFunctions.cap(capped, count, 0.7f, 30f);
            VectorFunctions.sigmoid(sigmoids, count);
            for (int i = 0; i < count; i++) {
                float x = numbers[i];
                assertThat(capped[i]).as("cap(%s)", x).isEqualTo((Float) VectorFunctions.capped(x, 0.7f, 30f));
                assertThat(sigmoids[i]).as("sigmoid(%s)", x).isEqualTo((Float) VectorFunctions.sigmoid(x));
            }
        }
    }

    private float[] special(int count) {
        float[] numbers = new float[Lanes.padded(count)];
        for (int i = 0; i < count; i++) {
            numbers[i] = i < SPECIAL.length ? SPECIAL[i] : (float) random.nextGaussian() * 20;
        }
        return numbers;
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void activationsAreNearTheirDefinition(Activation activation) {
        for (int i = 0; i < 20_000; i++) {
            float x = (float) (random.nextGaussian() * 3);
            float exact = ScalarFunctions.apply(activation, x);
            assertThat(Math.abs(VectorFunctions.apply(activation, x) - exact))
                    .as("%s(%s)", activation, x)
                    .isLessThanOrEqualTo(4e-7f * Math.max(1f, Math.abs(x)));
        }
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void vectorsGiveTheBitsOfTheScalarTwin(Activation activation) {
        for (int count : new int[] {1, 5, SPECIAL.length, 100}) {
            float[] numbers = special(count);
            float[] before = numbers.clone();
            VectorFunctions.apply(activation, numbers, 0, count);
            for (int i = 0; i < count; i++) {
                assertThat(Float.floatToIntBits(numbers[i]))
                        .as("%s(%s)", activation, before[i])
                        .isEqualTo(Float.floatToIntBits(VectorFunctions.apply(activation, before[i])));
            }
        }
    }

    @Test
    void softmaxWeightsAreThoseOfTheScalarTwin() {
        for (int count = 1; count <= AttentionCall.TILE; count++) {
            float[] scores = new float[AttentionCall.TILE];
            for (int i = 0; i < count; i++) {
                scores[i] = (float) random.nextGaussian() * 10;
            }
            float[] twin = scores.clone();
            float sum = VectorFunctions.softmaxWeights(scores, count, 3f, new float[Lanes.COUNT]);
            assertThat(sum).isEqualTo(ScalarLanes.softmaxWeights(twin, count, 3f));
            for (int i = 0; i < count; i++) {
                assertThat(scores[i]).isEqualTo(twin[i]);
            }
        }
    }
}
