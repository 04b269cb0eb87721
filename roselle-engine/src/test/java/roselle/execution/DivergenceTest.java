package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DivergenceTest {
    private static float[] logits(double... probabilities) {
        var logits = new float[probabilities.length];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) (Math.log(probabilities[i]) + 7); // any constant
        }
        return logits;
    }

    @Test
    void isTheDefinition() {
        var divergence = new Divergence();
        divergence.add(logits(0.5, 0.25, 0.25), logits(0.25, 0.5, 0.25), 1);
        divergence.add(logits(0.5, 0.25, 0.25), logits(0.5, 0.25, 0.25), 0);
        double first = 0.5 * Math.log(2) - 0.25 * Math.log(2);
        assertThat(divergence.positions()).isEqualTo(2);
        assertThat(divergence.mean()).isCloseTo(first / 2, within(1e-6));
        assertThat(divergence.quantile(0.5)).isCloseTo(0, within(1e-6));
        assertThat(divergence.quantile(0.99)).isCloseTo(first, within(1e-6));
        assertThat(divergence.agreement()).isEqualTo(0.5);
        assertThat(divergence.referencePerplexity()).isCloseTo(Math.sqrt(4 * 2), within(1e-5));
        assertThat(divergence.perplexity()).isCloseTo(2, within(1e-5));
    }

    @Test
    void takesWhatIsImpossibleForTheReferenceForNothing() {
        var divergence = new Divergence();
        float[] reference = {0, Float.NEGATIVE_INFINITY};
        divergence.add(reference, new float[] {0, 0}, 0);
        assertThat(divergence.mean()).isCloseTo(Math.log(2), within(1e-6));
    }

    @Test
    void keepsManyPositions() {
        var divergence = new Divergence();
        for (int i = 0; i < 3000; i++) {
            divergence.add(logits(0.5, 0.5), i == 2999 ? logits(0.9, 0.1) : logits(0.5, 0.5), 0);
        }
        assertThat(divergence.positions()).isEqualTo(3000);
        assertThat(divergence.quantile(0.99)).isZero();
        assertThat(divergence.quantile(1)).isCloseTo(0.5 * Math.log(0.5 / 0.9) + 0.5 * Math.log(5), within(1e-6));
    }
}
