package roselle.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.bench.metric.Repeats;

final class SyntheticTraceTest {
    @Test
    void spacesConstantArrivalsEvenly() {
        assertThat(SyntheticTrace.read("constant:rate=4,input=10,output=3", 5).entries())
                .extracting(TraceEntry::arrivalSeconds)
                .containsExactly(0.0, 0.25, 0.5, 0.75, 1.0);
    }

    /** Gaps of a Poisson process have the mean 1/rate and a deviation as large. */
    @Test
    void hasThePoissonProcessesMeanAndDeviation() {
        Repeats gaps = gaps(SyntheticTrace.read("poisson:rate=5", 20_000));

        assertThat(gaps.mean()).isCloseTo(0.2, within(0.005));
        assertThat(gaps.deviation()).isCloseTo(0.2, within(0.01));
    }

    @Test
    void hasTheGammaProcessesCoefficientOfVariation() {
        Repeats bursts = gaps(SyntheticTrace.read("gamma:rate=5,cv=2", 40_000));
        Repeats even = gaps(SyntheticTrace.read("gamma:rate=5,cv=0.5", 20_000));

        assertThat(bursts.mean()).isCloseTo(0.2, within(0.01));
        assertThat(bursts.deviation() / bursts.mean()).isCloseTo(2, within(0.1));
        assertThat(even.deviation() / even.mean()).isCloseTo(0.5, within(0.02));
    }

    /** From 0.5 to 1.5 a second in 10 s: 0.5 t + 0.05 t² requests until t, so the 10th after the first comes at 10 s. */
    @Test
    void growsARampsRateLinearly() {
        Trace ramp = SyntheticTrace.read("ramp:from=0.5,to=1.5,seconds=10", 14);

        assertThat(ramp.entries().get(10).arrivalSeconds()).isCloseTo(10, within(1e-9));
        assertThat(ramp.entries().get(3).arrivalSeconds()).isCloseTo((Math.sqrt(0.25 + 0.6) - 0.5) / 0.1, within(1e-9));
        assertThat(ramp.entries().get(13).arrivalSeconds()).isCloseTo(12, within(1e-9));
    }

    @Test
    void drawsLengthsFromRanges() {
        Trace trace = SyntheticTrace.read("constant:rate=1,input=3-5,output=2", 200);

        assertThat(trace.entries())
                .extracting(TraceEntry::inputTokens)
                .contains(3, 4, 5)
                .allMatch(n -> n >= 3 && n <= 5);
        assertThat(trace.entries()).extracting(TraceEntry::outputTokens).containsOnly(2);
    }

    @Test
    void givesTheSameForTheSameSeed() {
        assertThat(SyntheticTrace.read("poisson:rate=2,seed=7", 20).entries())
                .isEqualTo(SyntheticTrace.read("poisson:rate=2,seed=7", 20).entries())
                .isNotEqualTo(SyntheticTrace.read("poisson:rate=2,seed=8", 20).entries());
    }

    @Test
    void refusesWhatMakesNoSense() {
        refuses("poisson:input=3", "needs rate");
        refuses("poisson:rate=0", "rate=0");
        refuses("poisson:rate=NaN", "rate=NaN");
        refuses("poisson:rate=2,cv=3", "cv=3");
        refuses("constant:rate=2,input=5-3", "smaller number");
        refuses("constant:rate=2,input=0", "input=0");
    }

    private static void refuses(String rule, String message) {
        assertThatThrownBy(() -> SyntheticTrace.read(rule, 3))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    private static Repeats gaps(Trace trace) {
        return Repeats.of(IntStream.range(1, trace.entries().size())
                .mapToDouble(i -> trace.entries().get(i).arrivalSeconds()
                        - trace.entries().get(i - 1).arrivalSeconds())
                .toArray());
    }
}
