package roselle.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Those that give way rest while others are at work, and only then. */
class PrecedenceTest {
    private static final long MILLI = 1_000_000;

    @Test
    void nobodyRestsBeforeAnybodyWentFirst() {
        assertThat(new Precedence().restNanos(MILLI, 0)).isZero();
        assertThat(new Precedence().restNanos(MILLI, Long.MAX_VALUE)).isZero();
    }

    @Test
    void oneRestsForLongerThanItsStepWhileOthersGoFirst() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        assertThat(precedence.restNanos(MILLI, 8 * MILLI)).isGreaterThan(MILLI);
        assertThat(precedence.restNanos(0, 8 * MILLI)).isZero();
    }

    @Test
    void oneDoesNotRestForThoseThatHaveLongEnded() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        assertThat(precedence.restNanos(MILLI, 1007 * MILLI)).isZero();
    }

    @Test
    void clocksMayBeNegative() {
        var precedence = new Precedence();
        precedence.take(-7 * MILLI);
        assertThat(precedence.restNanos(MILLI, -6 * MILLI)).isPositive();
    }

    @Test
    void eachGpuHasOne() {
        assertThat(Precedence.of(91)).isSameAs(Precedence.of(91)).isNotSameAs(Precedence.of(92));
    }
}
