package roselle.model.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Scalings that depend on the length of a sequence give the frequencies that transformers 5.23 has for a sequence of the
 * limit's length ({@code ROPE_INIT_FUNCTIONS} with {@code seq_len}), so for shorter ones too: a token's bits cannot depend on
 * what follows it.
 */
class RopeScalingTest {
    private static RopeSpec rope(RopeScaling scaling) {
        return new RopeSpec(8, 10_000, false, scaling);
    }

    private static void assertFrequencies(float[] frequencies, double... expected) {
        assertThat(frequencies).hasSize(expected.length);
        for (int i = 0; i < expected.length; i++) {
            assertThat((double) frequencies[i]).isCloseTo(expected[i], within(expected[i] * 2e-4));
        }
    }

    @Test
    void dynamicKeepsTheBaseUpToTheTrainedContextAndStretchesItForALongerLimit() {
        RopeSpec dynamic = rope(new RopeScaling.Dynamic(4, 64));
        assertFrequencies(dynamic.inverseFrequencies(48), 1, 0.1, 0.01, 0.001);
        assertFrequencies(dynamic.inverseFrequencies(64), 1, 0.1, 0.01, 0.001);
        assertFrequencies(dynamic.inverseFrequencies(200), 1, 4.7216e-2, 2.2294e-3, 1.0526e-4);
    }

    /** As {@code _compute_proportional_rope_parameters} of transformers has them. */
    @Test
    void proportionalTurnsTheFirstPairsAsFastAsIfAllDid() {
        RopeSpec proportional = rope(new RopeScaling.Proportional(0.5, 2));
        assertFrequencies(proportional.inverseFrequencies(64), 0.5, 0.05, 0, 0);
    }

    @Test
    void longRopeChoosesItsFactorsByTheLimit() {
        RopeSpec longRope = rope(
                new RopeScaling.LongRope(List.of(1f, 1.05f, 1.2f, 1.4f), List.of(1f, 1.8f, 3.5f, 6f), 16, 1.4142135f));
        assertFrequencies(longRope.inverseFrequencies(16), 1, 9.5238e-2, 8.3333e-3, 7.1429e-4);
        assertFrequencies(longRope.inverseFrequencies(17), 1, 5.5556e-2, 2.8571e-3, 1.6667e-4);
    }
}
