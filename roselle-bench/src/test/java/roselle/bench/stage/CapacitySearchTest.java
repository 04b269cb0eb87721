package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;

final class CapacitySearchTest {
    private final CapacitySearch search = new CapacitySearch(1, 0.05, 40);

    @Test
    void findsALimitAboveAndBelowTheStart() throws InterruptedException {
        for (double limit : new double[] {0.013, 0.7, 1.5, 37, 812}) {
            CapacitySearch.Result result = search.find(rate -> rate <= limit);

            assertThat(result.carried().orElseThrow())
                    .isLessThanOrEqualTo(limit)
                    .isCloseTo(limit, within(0.05 * limit));
            assertThat(result.refused().orElseThrow()).isGreaterThan(limit).isLessThan(1.06 * limit);
        }
    }

    @Test
    void triesFewRates() throws InterruptedException {
        int[] probes = {0};
        search.find(rate -> {
            probes[0]++;
            return rate <= 37;
        });

        assertThat(probes[0]).isLessThanOrEqualTo(12); // 1, 2, … 64, then four or five halvings
    }

    @Test
    void tellsThatNothingWasCarriedOrEverythingWas() throws InterruptedException {
        var few = new CapacitySearch(1, 0.05, 6);

        assertThat(few.find(_ -> false).carried()).isEmpty();
        assertThat(few.find(_ -> true).refused()).isEmpty();
        assertThat(few.find(_ -> true).carried()).hasValue(32);
    }

    @Test
    void refusesASearchThatCannotEnd() {
        assertThatThrownBy(() -> new CapacitySearch(0, 0.05, 9)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new CapacitySearch(1, 0, 9)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new CapacitySearch(Double.NaN, 0.1, 9)).isInstanceOf(InvalidRequestException.class);
    }
}
