package roselle.bench.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class RepeatsTest {
    /** Mean 12, deviation sqrt((4 + 0 + 4) / 2) = 2, half width 4.303 · 2 / sqrt(3). */
    @Test
    void hasStudentsIntervalForAFewValues() {
        Repeats repeats = Repeats.of(10, 12, 14);

        assertThat(repeats.mean()).isEqualTo(12);
        assertThat(repeats.deviation()).isEqualTo(2);
        assertThat(repeats.halfWidth()).isCloseTo(4.303 * 2 / Math.sqrt(3), within(1e-9));
    }

    @Test
    void knowsNothingOfASingleValue() {
        assertThat(Repeats.of(5).halfWidth()).isInfinite();
        assertThat(Repeats.of(5).differsFrom(Repeats.of(500))).isFalse();
    }

    /** Means 12 and 22 with equal deviations of 2: Welch's t is 10 / sqrt(8/3) = 6.12, beyond 2.776 for 4 degrees. */
    @Test
    void tellsADifferenceFromNoise() {
        Repeats one = Repeats.of(10, 12, 14);

        assertThat(one.differsFrom(Repeats.of(20, 22, 24))).isTrue();
        assertThat(one.differsFrom(Repeats.of(13, 15, 17))).isFalse();
    }
}
