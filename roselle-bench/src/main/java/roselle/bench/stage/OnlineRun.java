package roselle.bench.stage;

import java.time.Instant;
import java.util.List;
import roselle.bench.environment.Energy;
import roselle.bench.environment.ProcessorUse;
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
 * @param energy by each meter of the machine; empty where there is none
 * @param processors how many cores were busy, and whose
 */
public record OnlineRun(
        String backend,
        double scale,
        int repeat,
        Instant started,
        List<RequestSample> samples,
        List<Energy> energy,
        ProcessorUse processors) {
    public OnlineRun {
        samples = List.copyOf(samples);
        energy = List.copyOf(energy);
    }

    public Latencies latencies() {
        return Latencies.of(samples);
    }

    public Throughput throughput() {
        return Throughput.of(samples);
    }
}
