package roselle.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.bench.metric.Distribution;
import roselle.bench.metric.Latencies;
import roselle.bench.metric.Repeats;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.Throughput;
import roselle.bench.stage.CapacitySearch;
import roselle.bench.stage.CapacityStage.Probe;
import roselle.bench.stage.OnlinePlan;

/** {@code capacity_results.json}. */
public final class CapacityResults {
    public static final String SCHEMA = "roselle.bench.capacity/1";

    private final Meta meta;
    private final OnlinePlan plan;
    private final List<Map<String, Object>> backends = new ArrayList<>();
    private final List<Map<String, Object>> capacities = new ArrayList<>();
    private final List<Map<String, Object>> probes = new ArrayList<>();

    public CapacityResults(Meta meta, OnlinePlan plan) {
        this.meta = meta;
        this.plan = plan;
    }

    public void add(BackendNote backend) {
        backends.add(backend.fields());
    }

    public void add(String backend, Probe probe) {
        Throughput throughput = probe.throughput();
        Latencies latencies = probe.latencies();
        var fields = new LinkedHashMap<String, Object>();
        fields.put("backend", backend);
        fields.put("search", probe.search());
        fields.put("rate", Fields.rounded(probe.rate()));
        fields.put("is_kept", probe.isKept());
        fields.put("requests", throughput.requests());
        fields.put("failed", throughput.failed());
        fields.put("failure_examples", OnlineResults.examples(probe.samples()));
        fields.put("requests_per_second", Fields.rounded(throughput.requestsPerSecond()));
        fields.put("goodput_per_second", Fields.rounded(throughput.goodput(probe.samples(), plan.objective())));
        fields.put("output_tokens_per_second", Fields.rounded(throughput.outputTokensPerSecond()));
        fields.put("ttft_ms", Fields.summary(latencies.ttft()));
        fields.put("tpot_ms", Fields.summary(latencies.tpot()));
        fields.put("itl_ms", Fields.summary(latencies.itl()));
        fields.put("e2e_ms", Fields.summary(latencies.e2e()));
        fields.put(
                "scheduling_error_ms",
                Fields.summary(Distribution.of(probe.samples().stream().mapToDouble(RequestSample::latenessMillis))));
        probes.add(fields);
    }

    /**
     * The result of all searches of an engine.
     *
     * @param gpus that it uses
     */
    public void add(String backend, int gpus, List<CapacitySearch.Result> searches) {
        double[] carried = searches.stream()
                .mapToDouble(result -> result.carried().orElse(0))
                .toArray();
        Repeats repeats = Repeats.of(carried);
        var fields = new LinkedHashMap<String, Object>();
        fields.put("backend", backend);
        fields.put("requests_per_second", Fields.rounded(repeats.mean()));
        fields.put("gpus", gpus);
        fields.put("requests_per_second_per_gpu", gpus == 0 ? "no GPU" : Fields.rounded(repeats.mean() / gpus));
        fields.put("searches", Arrays.stream(carried).mapToObj(Fields::rounded).toList());
        fields.put("refused", searches.stream().map(CapacityResults::refused).toList());
        fields.put(
                "endings",
                searches.stream().map(result -> result.ending().label()).toList());
        fields.put("confidence", 0.95);
        fields.put("half_width", searches.size() < 2 ? "unknown: one search" : Fields.rounded(repeats.halfWidth()));
        fields.put(
                "is_at_least",
                searches.stream().anyMatch(result -> result.refused().isEmpty()));
        fields.put("goodput_per_second", best(backend));
        capacities.add(fields);
    }

    /** The lowest rate that was refused, or a word where none was. */
    private static Object refused(CapacitySearch.Result result) {
        return result.refused().isPresent() ? Fields.rounded(result.refused().getAsDouble()) : "none";
    }

    /** The highest goodput of all probes: beyond the capacity it may still grow, or fall. */
    private double best(String backend) {
        return probes.stream()
                .filter(probe -> backend.equals(probe.get("backend")))
                .mapToDouble(probe -> (double) probe.getOrDefault("goodput_per_second", 0.0))
                .max()
                .orElse(0);
    }

    public Map<String, Object> document() {
        var document = new LinkedHashMap<String, Object>();
        document.put("schema", SCHEMA);
        document.put("meta", meta.fields());
        document.put("workload", OnlineResults.workload(plan));
        document.put("backends", backends);
        document.put("capacities", capacities);
        document.put("probes", probes);
        return document;
    }
}
