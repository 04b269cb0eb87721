package roselle.bench.stage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import roselle.bench.metric.Difference;
import roselle.bench.metric.Repeats;

/** Compares variants by their repeated runs: each with the first, at each scale, in each metric. */
public final class Differences {
    private static final Map<String, ToDoubleFunction<OnlineRun>> METRICS = metrics();

    /** A difference and where it was seen. */
    public record Found(String base, String variant, double scale, Difference difference) {}

    private Differences() {}

    private static Map<String, ToDoubleFunction<OnlineRun>> metrics() {
        var metrics = new LinkedHashMap<String, ToDoubleFunction<OnlineRun>>();
        metrics.put("TTFT p50 ms", run -> run.latencies().ttft().p50());
        metrics.put("TTFT p90 ms", run -> run.latencies().ttft().p90());
        metrics.put("TPOT p50 ms", run -> run.latencies().tpot().p50());
        metrics.put("TPOT p90 ms", run -> run.latencies().tpot().p90());
        metrics.put("E2E p50 ms", run -> run.latencies().e2e().p50());
        metrics.put("E2E p90 ms", run -> run.latencies().e2e().p90());
        metrics.put("output tokens/s", run -> run.throughput().outputTokensPerSecond());
        return metrics;
    }

    public static List<Found> of(List<OnlineRun> runs) {
        List<String> names = runs.stream().map(OnlineRun::backend).distinct().toList();
        var found = new ArrayList<Found>();
        for (String name : names.subList(Math.min(1, names.size()), names.size())) {
            runs.stream()
                    .map(OnlineRun::scale)
                    .distinct()
                    .forEach(scale -> METRICS.forEach((metric, value) -> {
                        var difference = new Difference(
                                metric,
                                repeats(runs, names.getFirst(), scale, value),
                                repeats(runs, name, scale, value));
                        if (difference.base().count() > 0
                                && difference.variant().count() > 0) {
                            found.add(new Found(names.getFirst(), name, scale, difference));
                        }
                    }));
        }
        return found;
    }

    private static Repeats repeats(List<OnlineRun> runs, String name, double scale, ToDoubleFunction<OnlineRun> value) {
        return Repeats.of(runs.stream()
                .filter(run -> run.backend().equals(name) && run.scale() == scale)
                .mapToDouble(value)
                .filter(Double::isFinite)
                .toArray());
    }
}
