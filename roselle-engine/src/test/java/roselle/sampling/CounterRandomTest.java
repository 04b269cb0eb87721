package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class CounterRandomTest {
    /** The known answer of Philox4x32-10 for a key and a counter of zeros: 6627e8d5 e169c58d bc57ac4c 9b00dbd8. */
    @Test
    void bitsAreThoseOfPhilox() {
        assertThat(CounterRandom.bits(0, 0, 0, 0)).isEqualTo(0xe169c58d_6627e8d5L);
    }

    /** Those of a key and a counter of ones: 408f276d 41c83b0e a20bc7c6 6d5451fd. */
    @Test
    void everyBitOfKeyAndCounterCounts() {
        assertThat(CounterRandom.bits(-1, -1, -1, -1)).isEqualTo(0x41c83b0e_408f276dL);
        long bits = CounterRandom.bits(5, 6, 7, 8);
        for (int bit = 0; bit < 64; bit++) {
            assertThat(CounterRandom.bits(5 ^ 1L << bit, 6, 7, 8)).isNotEqualTo(bits);
            assertThat(CounterRandom.bits(5, 6 ^ 1L << bit, 7, 8)).isNotEqualTo(bits);
            assertThat(CounterRandom.bits(5, 6, 7 ^ 1 << bit % 32, 8)).isNotEqualTo(bits);
            assertThat(CounterRandom.bits(5, 6, 7, 8 ^ 1 << bit % 32)).isNotEqualTo(bits);
        }
    }

    @Test
    void expIsThatOfTheLibrary() {
        for (double x = 0; x > -690; x -= 0.173) {
            assertThat(Exponential.of(x) / Math.exp(x)).isCloseTo(1, within(1e-12));
        }
        assertThat(Exponential.of(Double.NEGATIVE_INFINITY)).isLessThan(1e-300);
    }
}
