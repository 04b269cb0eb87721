package roselle.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Those that give way have short steps while others are at work, and only then. */
class PrecedenceTest {
    private static final long MILLI = 1_000_000;
    private static final int MAX_ROWS = 16_384;

    @Test
    void stepsAreWholeBeforeAnybodyWentFirst() {
        assertThat(new Precedence().rowsNow(MAX_ROWS, 0)).isEqualTo(MAX_ROWS);
        assertThat(new Precedence().rowsNow(MAX_ROWS, Long.MAX_VALUE)).isEqualTo(MAX_ROWS);
    }

    @Test
    void stepsAreShortWhileOthersGoFirst() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        assertThat(precedence.rowsNow(MAX_ROWS, 8 * MILLI)).isBetween(1, MAX_ROWS / 4);
        assertThat(precedence.rowsNow(16, 8 * MILLI)).isEqualTo(16);
    }

    @Test
    void stepsAreWholeAgainWhereOthersHaveLongEnded() {
        var precedence = new Precedence();
        precedence.take(7 * MILLI);
        assertThat(precedence.rowsNow(MAX_ROWS, 1007 * MILLI)).isEqualTo(MAX_ROWS);
    }

    @Test
    void clocksMayBeNegative() {
        var precedence = new Precedence();
        precedence.take(-7 * MILLI);
        assertThat(precedence.rowsNow(MAX_ROWS, -6 * MILLI)).isLessThan(MAX_ROWS);
    }

    @Test
    void eachGpuHasOne() {
        assertThat(Precedence.of(91)).isSameAs(Precedence.of(91)).isNotSameAs(Precedence.of(92));
    }
}
