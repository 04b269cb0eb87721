package roselle.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Those that give way rest while others are at work, and only then. */
class PrecedenceTest {
    private static final long MILLI = 1_000_000;
    private static final int ROWS = 4096;

    @Test
    void nobodyRestsBeforeAnybodyWentFirst() {
        assertThat(new Precedence().restNanos(ROWS, MILLI, 0)).isZero();
        assertThat(new Precedence().restNanos(ROWS, MILLI, Long.MAX_VALUE)).isZero();
    }

    @Test
    void oneRestsForAtLeastItsStepAndLongerForMoreRowsWhileOthersGoFirst() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        long few = precedence.restNanos(1, MILLI, 8 * MILLI);
        assertThat(few).isGreaterThanOrEqualTo(MILLI);
        assertThat(precedence.restNanos(4 * ROWS, MILLI, 8 * MILLI)).isGreaterThan(2 * few);
        assertThat(precedence.restNanos(ROWS, 0, 8 * MILLI)).isZero();
    }

    @Test
    void nobodyRestsForThoseThatHaveLongEnded() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        assertThat(precedence.restNanos(ROWS, MILLI, 1007 * MILLI)).isZero();
    }

    @Test
    void clocksMayBeNegative() {
        var precedence = new Precedence();
        precedence.take(-7 * MILLI);
        assertThat(precedence.restNanos(ROWS, MILLI, -6 * MILLI)).isPositive();
    }

    @Test
    void eachGpuHasOne() {
        assertThat(Precedence.of(91)).isSameAs(Precedence.of(91)).isNotSameAs(Precedence.of(92));
    }
}
