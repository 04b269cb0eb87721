package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.bench.stage.CapacitySearch.Ending;
import roselle.bench.stage.CapacitySearch.Verdict;

final class CapacitySearchTest {
    private final CapacitySearch search = new CapacitySearch(1, 0.05, 40);

    @Test
    void findsALimitAboveAndBelowTheStart() throws InterruptedException {
        for (double limit : new double[] {0.013, 0.7, 1.5, 37, 812}) {
            CapacitySearch.Result result = search.find(rate -> verdict(rate <= limit));

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
            return verdict(rate <= 37);
        });

        assertThat(probes[0]).isLessThanOrEqualTo(12); // 1, 2, … 64, then four or five halvings
    }

    @Test
    void tellsThatNothingWasCarriedOrEverythingWas() throws InterruptedException {
        var few = new CapacitySearch(1, 0.05, 6);

        assertThat(few.find(_ -> Verdict.REFUSED).carried()).isEmpty();
        assertThat(few.find(_ -> Verdict.CARRIED).refused()).isEmpty();
        assertThat(few.find(_ -> Verdict.CARRIED).carried()).hasValue(32);
    }

    /** Carried at 8 and refused at 16; then the geometric means 11.31, 13.45, 12.34 and 11.81, of which the first is carried. */
    @Test
    void halvesByTheGeometricMean() throws InterruptedException {
        var tried = new ArrayList<Double>();
        CapacitySearch.Result result = new CapacitySearch(4, 0.05, 24).find(rate -> {
            tried.add(Math.round(rate * 100) / 100.0);
            return verdict(rate <= 11.5);
        });

        assertThat(tried).containsExactly(4.0, 8.0, 16.0, 11.31, 13.45, 12.34, 11.81);
        assertThat(result.carried().orElseThrow()).isCloseTo(11.3137, within(1e-4));
        assertThat(result.refused().orElseThrow()).isCloseTo(11.8146, within(1e-4));
        assertThat(result.ending()).isEqualTo(Ending.NARROW);
    }

    @Test
    void tellsWhyItEnded() throws InterruptedException {
        var few = new CapacitySearch(4, 0.05, 4);

        assertThat(few.find(rate -> verdict(rate <= 11.5)).ending()).isEqualTo(Ending.OUT_OF_PROBES);
        assertThat(few.find(_ -> Verdict.REFUSED).ending()).isEqualTo(Ending.OUT_OF_PROBES);
        assertThat(few.find(_ -> Verdict.CARRIED).ending()).isEqualTo(Ending.NEVER_REFUSED);
    }

    @Test
    void givesUpWhereNoLowerRateCanHelp() throws InterruptedException {
        int[] probes = {0};
        CapacitySearch.Result result = new CapacitySearch(4, 0.05, 24).find(rate -> {
            probes[0]++;
            return rate < 1 ? Verdict.HOPELESS : Verdict.REFUSED;
        });

        assertThat(probes[0]).isEqualTo(4);
        assertThat(result.carried()).isEmpty();
        assertThat(result.ending()).isEqualTo(Ending.HOPELESS);
    }

    @Test
    void refusesASearchThatCannotEnd() {
        assertThatThrownBy(() -> new CapacitySearch(0, 0.05, 9)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new CapacitySearch(1, 0, 9)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new CapacitySearch(Double.NaN, 0.1, 9)).isInstanceOf(InvalidRequestException.class);
    }

    private static Verdict verdict(boolean isCarried) {
        return isCarried ? Verdict.CARRIED : Verdict.REFUSED;
    }
}
