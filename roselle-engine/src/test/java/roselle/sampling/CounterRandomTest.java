package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class CounterRandomTest {
    /** The known answer of Philox4x32-10 for a key and a counter of zeros: 6627e8d5 e169c58d bc57ac4c 9b00dbd8. */
    @Test
    void bitsAreThoseOfPhilox() {
        assertThat(CounterRandom.bits(0, 0)).isEqualTo(0xe169c58d_6627e8d5L);
    }

    @Test
    void numbersFillTheUnitIntervalEvenly() {
        int[] counts = new int[64];
        for (int position = 0; position < 64_000; position++) {
            counts[(int) (CounterRandom.uniform(42, position) * 64)]++;
        }
        double sum = 0;
        for (int count : counts) {
            sum += (count - 1000.0) * (count - 1000.0) / 1000;
        }
        assertThat(sum).as("chi-square of 63 degrees").isBetween(25.0, 110.0);
    }

    @Test
    void expIsThatOfTheLibrary() {
        for (double x = 0; x > -690; x -= 0.173) {
            assertThat(Exponential.of(x) / Math.exp(x)).isCloseTo(1, within(1e-12));
        }
        assertThat(Exponential.of(Double.NEGATIVE_INFINITY)).isLessThan(1e-300);
    }
}
