package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class TokenNoiseTest {
    private static final long SEED = 42;
    private static final int POSITIONS = 1500;

    private static double noise(int position, int id) {
        return TokenNoise.of(SEED, position, id, TokenNoise.spanBits(SEED, position, id / TokenNoise.SPAN));
    }

    @Test
    void logarithmsAreThoseOfTheLibrary() {
        var random = new SplittableRandom(SEED);
        for (int i = 0; i < 20_000; i++) {
            double x = Math.scalb(1 - random.nextDouble(), -random.nextInt(53));
            assertThat(TokenNoise.minusLog(x) / -StrictMath.log(x))
                    .as("log(%s)", x)
                    .isCloseTo(1, within(1e-15));
        }
        for (double x : new double[] {0x1p-53, 1 - 0x1p-53, Math.sqrt(0.5), 0.5, Math.nextDown(0.5)}) {
            assertThat(TokenNoise.minusLog(x)).isCloseTo(-StrictMath.log(x), within(1e-15 * -StrictMath.log(x)));
        }
    }

    @Test
    void theLeastAndTheMostNoiseAreFiniteAndPositive() {
        assertThat(TokenNoise.exponential(-1L)).isPositive().isLessThan(1e-15);
        assertThat(TokenNoise.exponential(0)).isBetween(36.0, 37.0);
        assertThat(TokenNoise.bound(-1L)).isNotNegative();
    }

    /** Chi-square in 64 intervals that are equally likely, for each place in a span. */
    @Test
    void everyIdHasExponentialNoise() {
        for (int id : new int[] {0, 1, 31, 32, 100_000}) {
            int[] counts = new int[64];
            for (int position = 0; position < 32_000; position++) {
                counts[(int) (64 * Math.exp(-noise(position, id)))]++;
            }
            double sum = 0;
            for (int count : counts) {
                sum += (count - 500.0) * (count - 500.0) / 500;
            }
            assertThat(sum).as("chi-square of 63 degrees, id %d", id).isBetween(25.0, 110.0);
        }
    }

    /** Two ids' noise above their medians: in a span, across spans, and at neighbouring positions. */
    @Test
    void noiseIsIndependentOfThatOfOthers() {
        double median = Math.log(2);
        int[][] pairs = {{0, 1}, {0, 31}, {13, 14}, {31, 32}, {5, 37}};
        for (int[] pair : pairs) {
            int same = 0;
            int sameNext = 0;
            int both = 0;
            for (int position = 0; position < 32_000; position++) {
                boolean first = noise(position, pair[0]) > median;
                same += first == noise(position, pair[1]) > median ? 1 : 0;
                sameNext += first == noise(position + 1, pair[1]) > median ? 1 : 0;
                both += noise(position, pair[0]) < 0.02 && noise(position, pair[1]) < 0.02 ? 1 : 0;
            }
            assertThat(same).as("ids %d and %d", pair[0], pair[1]).isBetween(15_640, 16_360); // four deviations of 90
            assertThat(sameNext).isBetween(15_640, 16_360);
            assertThat(both).as("both small: 12.5 are expected").isBetween(1, 28);
        }
    }

    @Test
    void noNoiseIsBelowTheBoundOfItsSpan() {
        double least = Double.POSITIVE_INFINITY;
        double sum = 0;
        for (int position = 0; position < POSITIONS; position++) {
            long bits = TokenNoise.spanBits(SEED, position, 3);
            double ofSpan = Double.POSITIVE_INFINITY;
            for (int id = 96; id < 128; id++) {
                ofSpan = Math.min(ofSpan, TokenNoise.of(SEED, position, id, bits));
            }
            assertThat(TokenNoise.bound(bits)).isLessThanOrEqualTo(ofSpan);
            least = Math.min(least, ofSpan - TokenNoise.bound(bits));
            sum += ofSpan;
        }
        assertThat(least).as("the bound is near where it matters").isLessThan(1e-6);
        assertThat(sum / POSITIONS).isCloseTo(1.0 / 32, within(4.0 / 32 / Math.sqrt(POSITIONS)));
    }
}
