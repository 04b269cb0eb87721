package roselle.bench.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;

/** What keeps an objective, counted by hand. */
final class ObjectiveTest {
    private static final long MILLI = 1_000_000;
    private static final Objective OBJECTIVE = new Objective(100, 20, 0.01);

    /**
     * Five requests within 4 s, all intended at 0: first token at 100 ms and 20 ms each further (kept, both at their limit);
     * first at 101 (not); 25 ms each further (not); a single token at 90 (kept: it has no time between tokens); failed (not).
     */
    @Test
    void countsAsGoodEachRequestThatKeepsBothTimes() {
        List<RequestSample> samples = List.of(
                sample(Optional.empty(), 100, 120, 140),
                sample(Optional.empty(), 101, 110, 120),
                sample(Optional.empty(), 50, 75, 100),
                sample(Optional.empty(), 90),
                sample(Optional.of("broken"), 10, 20, 4000));

        assertThat(samples).map(OBJECTIVE::isKeptBy).containsExactly(true, false, false, true, false);
        assertThat(Throughput.of(samples).goodput(samples, OBJECTIVE)).isCloseTo(2 / 4.0, within(1e-12));
    }

    /**
     * A hundred requests of two gaps each, of which the last has a first token of 200 ms: p99 lies at place 98.01 of 0 to
     * 99, so it is 10 + 0.01 · (200 − 10) = 11.9 ms. With two such requests it is at places 98 and 99: 200 ms.
     */
    @Test
    void holdsARunToItsPercentiles() {
        assertThat(kept(new Objective(11.9001, 5, 0), 99, 1, 0)).isTrue();
        assertThat(kept(new Objective(11.8999, 5, 0), 99, 1, 0)).isFalse();
        assertThat(kept(new Objective(199, 5, 0), 98, 2, 0)).isFalse();
        assertThat(kept(new Objective(201, 5, 0), 98, 2, 0)).isTrue();
        assertThat(kept(new Objective(201, 4.99, 0), 98, 2, 0)).isFalse();
    }

    @Test
    void holdsARunToItsFailures() {
        assertThat(kept(OBJECTIVE, 99, 0, 1)).isTrue();
        assertThat(kept(OBJECTIVE, 98, 0, 2)).isFalse();
        assertThat(kept(OBJECTIVE, 0, 0, 1)).isFalse();
    }

    @Test
    void refusesWhatNothingCanKeep() {
        assertThatThrownBy(() -> new Objective(0, 1, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new Objective(1, Double.NaN, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new Objective(1, 1, 1)).isInstanceOf(InvalidRequestException.class);
    }

    private static boolean kept(Objective objective, int fast, int slow, int failed) {
        List<RequestSample> samples = Stream.of(
                        IntStream.range(0, fast).mapToObj(_ -> sample(Optional.empty(), 10, 15, 20)),
                        IntStream.range(0, slow).mapToObj(_ -> sample(Optional.empty(), 200, 205, 210)),
                        IntStream.range(0, failed).mapToObj(_ -> sample(Optional.of("broken"), 10)))
                .flatMap(each -> each)
                .toList();
        return objective.isKeptBy(Latencies.of(samples), Throughput.of(samples).failureShare());
    }

    private static RequestSample sample(Optional<String> failure, long... millis) {
        long[] nanos = LongStream.of(millis).map(each -> each * MILLI).toArray();
        return new RequestSample(
                0, 1, nanos.length, 0, 0, ChunkTimes.of(nanos), nanos[nanos.length - 1], Optional.empty(), failure);
    }
}
