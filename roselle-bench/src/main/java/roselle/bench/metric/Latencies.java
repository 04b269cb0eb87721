package roselle.bench.metric;

import java.util.Arrays;
import java.util.List;

/**
 * The four latencies of a run, in milliseconds, over the requests that came to their end.
 *
 * @param ttft time to first token: t_first − t_start
 * @param tpot time per output token: (t_end − t_first) / (N − 1), for N of 2 or more
 * @param itl inter-token latency: all gaps between chunks, of all requests pooled
 * @param e2e end to end: t_end − t_start
 */
public record Latencies(Distribution ttft, Distribution tpot, Distribution itl, Distribution e2e) {
    public static Latencies of(List<RequestSample> samples) {
        List<RequestSample> answered = samples.stream()
                .filter(sample -> !sample.hasFailed() && sample.hasFirst())
                .toList();
        return new Latencies(
                Distribution.of(answered.stream().mapToDouble(RequestSample::ttftMillis)),
                Distribution.of(
                        answered.stream().filter(RequestSample::hasTpot).mapToDouble(RequestSample::tpotMillis)),
                Distribution.of(answered.stream().flatMapToDouble(sample -> Arrays.stream(sample.gapsMillis()))),
                Distribution.of(answered.stream().mapToDouble(RequestSample::e2eMillis)));
    }
}
