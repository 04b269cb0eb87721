package roselle.bench.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class DistributionTest {
    /** numpy.percentile([15, 20, 35, 40, 50], [0, 40, 50, 90, 99, 100]) */
    @Test
    void interpolatesAsNumpyDoes() {
        Distribution values = Distribution.of(50, 15, 40, 20, 35);

        assertThat(values.quantile(0)).isEqualTo(15);
        assertThat(values.quantile(0.4)).isCloseTo(29, within(1e-12));
        assertThat(values.p50()).isEqualTo(35);
        assertThat(values.p90()).isCloseTo(46, within(1e-12));
        assertThat(values.p99()).isCloseTo(49.6, within(1e-12));
        assertThat(values.quantile(1)).isEqualTo(50);
        assertThat(values.mean()).isEqualTo(32);
    }

    @Test
    void isTheValueItselfForASingleOne() {
        assertThat(Distribution.of(7).p99()).isEqualTo(7);
        assertThat(Distribution.of(7).count()).isEqualTo(1);
    }

    @Test
    void hasNoNumberForNoValues() {
        assertThat(Distribution.of().p50()).isNaN();
        assertThat(Distribution.of().curve(10)).isEmpty();
    }

    @Test
    void supportsAPercentileOnceAValueLiesBeyondIt() {
        assertThat(Distribution.of(new double[99]).supports(0.99)).isFalse();
        assertThat(Distribution.of(new double[100]).supports(0.99)).isTrue();
        assertThat(Distribution.of(new double[10]).supports(0.9)).isTrue();
    }

    @Test
    void tellsTheShareWithinALimit() {
        assertThat(Distribution.of(1, 2, 3, 4).shareWithin(2)).isEqualTo(0.5);
    }
}
