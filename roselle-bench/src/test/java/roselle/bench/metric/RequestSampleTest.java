package roselle.bench.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import roselle.bench.metric.RequestSample.TokenUsage;

/** Latencies of requests written down by hand. */
final class RequestSampleTest {
    private static final long MILLI = 1_000_000;

    /** Intended at 100 ms, sent at 103, tokens at 150, 160, 180, 210, end at 210; the endpoint says five tokens in four chunks. */
    private static final RequestSample SAMPLE =
            sample(100, 103, Optional.of(new TokenUsage(7, 5, 3)), 150, 160, 180, 210);

    @Test
    void countsLatencyFromTheIntendedStart() {
        assertThat(SAMPLE.ttftMillis()).isEqualTo(50);
        assertThat(SAMPLE.e2eMillis()).isEqualTo(110);
        assertThat(SAMPLE.latenessMillis()).isEqualTo(3);
    }

    @Test
    void dividesByTokensOfTheUsageAndNotByChunks() {
        assertThat(SAMPLE.tokens()).isEqualTo(5);
        assertThat(SAMPLE.tpotMillis()).isEqualTo((210 - 150) / 4.0);
        assertThat(sample(100, 103, Optional.empty(), 150, 160, 180, 210).tpotMillis())
                .isEqualTo((210 - 150) / 3.0);
    }

    @Test
    void takesEveryGapBetweenChunks() {
        assertThat(SAMPLE.gapsMillis()).containsExactly(10, 20, 30);
    }

    @Test
    void hasNoTimePerOutputTokenForASingleToken() {
        RequestSample single = sample(0, 0, Optional.empty(), 5);

        assertThat(single.hasTpot()).isFalse();
        assertThat(Latencies.of(List.of(single)).tpot().count()).isZero();
    }

    @Test
    void poolsGapsOfAllRequestsButNotOfFailedOnes() {
        RequestSample failed = new RequestSample(
                2, 1, 2, 0, 0, ChunkTimes.of(0, 500 * MILLI), 600 * MILLI, Optional.empty(), Optional.of("broken"));
        Latencies latencies = Latencies.of(List.of(SAMPLE, sample(0, 0, Optional.empty(), 10, 50), failed));

        assertThat(latencies.itl().count()).isEqualTo(4);
        assertThat(latencies.itl().max()).isEqualTo(40);
        assertThat(latencies.ttft().count()).isEqualTo(2);
    }

    @Test
    void countsThroughputFromTheFirstIntendedStartToTheLastEnd() {
        RequestSample failed = new RequestSample(
                1, 4, 2, 0, 0, ChunkTimes.of(), 2000 * MILLI, Optional.empty(), Optional.of("broken"));
        List<RequestSample> samples = List.of(SAMPLE, failed);
        Throughput throughput = Throughput.of(samples);

        assertThat(throughput.seconds()).isEqualTo(2);
        assertThat(throughput.requestsPerSecond()).isEqualTo(0.5);
        assertThat(throughput.outputTokensPerSecond()).isEqualTo(2.5);
        assertThat(throughput.totalTokensPerSecond()).isEqualTo((7 + 5) / 2.0);
        assertThat(throughput.failureShare()).isEqualTo(0.5);
        assertThat(throughput.chunks()).isEqualTo(4);
    }

    @Test
    void countsAsGoodWhatKeepsBothTimes() {
        Throughput throughput = Throughput.of(List.of(SAMPLE));

        assertThat(throughput.goodput(List.of(SAMPLE), new Objective(50, 15, 0)))
                .isCloseTo(1 / 0.11, within(1e-9));
        assertThat(throughput.goodput(List.of(SAMPLE), new Objective(49, 15, 0)))
                .isZero();
        assertThat(throughput.goodput(List.of(SAMPLE), new Objective(50, 14, 0)))
                .isZero();
    }

    private static RequestSample sample(long intended, long started, Optional<TokenUsage> usage, long... millis) {
        long[] nanos = java.util.Arrays.stream(millis).map(each -> each * MILLI).toArray();
        return new RequestSample(
                0,
                7,
                5,
                intended * MILLI,
                started * MILLI,
                ChunkTimes.of(nanos),
                nanos[nanos.length - 1],
                usage,
                Optional.empty());
    }
}
