package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.execution.Verification.Deviation;
import roselle.execution.Verification.Difference;
import roselle.execution.Verification.Tops;

class VerificationTest {
    /** Tokens whose reference has the norm 10, off by so many percent of it. */
    private static Difference difference(int mayTurn, Tops tops, double... percents) {
        var deviations = new ArrayList<Deviation>();
        double largest = 0;
        for (double percent : percents) {
            double off = percent / 100 * 10;
            deviations.add(new Deviation(off * off, 100));
            largest = Math.max(largest, off);
        }
        return new Difference(percents.length, largest, 0, deviations, tops, mayTurn, 0, 0, 0);
    }

    @Test
    void allTokensTogetherAndTheWorstAreMeasuredByTheNorm() {
        Difference three = difference(0, new Tops(3, 3), 1, 2, 2);
        assertThat(three.part()).isCloseTo(Math.sqrt((1 + 4 + 4) / 3.0) / 100, within(1e-12));
        assertThat(three.worstPart()).isCloseTo(0.02, within(1e-12));
        var unequal = new Difference(
                2, 1, 0, List.of(new Deviation(1, 100), new Deviation(0, 300)), new Tops(2, 2), 0, 0, 0, 0);
        assertThat(unequal.part()).isCloseTo(0.05, within(1e-12));
    }

    @Test
    void oneOfTheTwoBoundsIsEnoughToFail() {
        assertThat(difference(0, new Tops(2, 2), 1.9, 1.9).isWithinPart(0.02)).isTrue();
        assertThat(difference(0, new Tops(2, 2), 2.1, 2.1).isWithinPart(0.02))
                .as("2.1 % together")
                .isFalse();
        assertThat(difference(0, new Tops(9, 9), 3.9, 0, 0, 0, 0, 0, 0, 0, 0).isWithinPart(0.02))
                .isTrue();
        assertThat(difference(0, new Tops(9, 9), 4.1, 0, 0, 0, 0, 0, 0, 0, 0).isWithinPart(0.02))
                .as("4.1 % at a token")
                .isFalse();
        assertThat(difference(0, new Tops(2, 1), 1, 1).isWithinPart(0.02))
                .as("another likeliest token")
                .isFalse();
    }

    @Test
    void asManyTokensAsMayTurnAreLeftOut() {
        assertThat(difference(1, new Tops(3, 2), 1, 50, 1).isWithinPart(0.02)).isTrue();
        assertThat(difference(1, new Tops(3, 2), 50, 50, 1).isWithinPart(0.02)).isFalse();
        assertThat(difference(1, new Tops(3, 1), 1, 50, 1).isWithinPart(0.02)).isFalse();
        assertThat(difference(1, new Tops(1, 1), 50).isWithinPart(0.02))
                .as("a token is left")
                .isFalse();
    }

    @Test
    void whatIsNotANumberFailsThoughItsTokenMayTurn() {
        assertThat(difference(1, new Tops(3, 3), 1, Double.NaN, 1).isWithinPart(0.02))
                .isFalse();
    }
}
