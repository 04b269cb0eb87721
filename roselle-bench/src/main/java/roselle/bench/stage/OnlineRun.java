package roselle.bench.stage;

import java.time.Instant;
import java.util.List;
import roselle.bench.metric.Latencies;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.Throughput;

/**
 * One replay of the trace.
 *
 * @param backend its name
 * @param scale of the arrivals
 * @param repeat from 0
 * @param started on the wall's clock
 */
public record OnlineRun(String backend, double scale, int repeat, Instant started, List<RequestSample> samples) {
    public OnlineRun {
        samples = List.copyOf(samples);
    }

    public Latencies latencies() {
        return Latencies.of(samples);
    }

    public Throughput throughput() {
        return Throughput.of(samples);
    }
}
