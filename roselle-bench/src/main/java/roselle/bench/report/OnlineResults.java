package roselle.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.bench.metric.Distribution;
import roselle.bench.metric.Latencies;
import roselle.bench.metric.Objective;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.Throughput;
import roselle.bench.stage.Differences;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.OnlineRun;

/** {@code online_results.json}: collects runs and puts them into the documented form. */
public final class OnlineResults {
    /** Name and version of the form; a field that is taken away or changes its meaning raises the version. */
    public static final String SCHEMA = "roselle.bench.online/1";

    private static final int MAX_EXAMPLES = 5;
    private static final int MAX_TIMELINE = 5000;

    private final Meta meta;
    private final OnlinePlan plan;
    private final List<Map<String, Object>> backends = new ArrayList<>();
    private final List<Map<String, Object>> runs = new ArrayList<>();
    private final List<Map<String, Object>> differences = new ArrayList<>();

    public OnlineResults(Meta meta, OnlinePlan plan) {
        this.meta = meta;
        this.plan = plan;
    }

    public void add(BackendNote backend) {
        backends.add(backend.fields());
    }

    public void add(OnlineRun run) {
        runs.add(fields(run));
    }

    /** Adds what variants differ in. */
    public void add(Differences.Found found) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("base", found.base());
        fields.put("variant", found.variant());
        fields.put("scale", found.scale());
        fields.put("metric", found.difference().metric());
        fields.put("base_mean", Fields.rounded(found.difference().base().mean()));
        fields.put("base_deviation", Fields.rounded(found.difference().base().deviation()));
        fields.put("variant_mean", Fields.rounded(found.difference().variant().mean()));
        fields.put(
                "variant_deviation", Fields.rounded(found.difference().variant().deviation()));
        fields.put("repeats", found.difference().variant().count());
        fields.put("difference_share", Fields.rounded(found.difference().share()));
        fields.put("exceeds_noise", found.difference().exceedsNoise());
        differences.add(fields);
    }

    public Map<String, Object> document() {
        var document = new LinkedHashMap<String, Object>();
        document.put("schema", SCHEMA);
        document.put("meta", meta.fields());
        document.put("workload", workload(plan));
        document.put("backends", backends);
        document.put("runs", runs);
        document.put("differences", differences);
        return document;
    }

    static Map<String, Object> workload(OnlinePlan plan) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("trace", plan.trace().name());
        fields.put("trace_format", plan.trace().format());
        fields.put("requests", plan.trace().entries().size());
        fields.put("skipped_rows", plan.trace().skipped());
        fields.put("trace_seconds", Fields.rounded(plan.trace().seconds()));
        fields.put("scales", plan.scales());
        fields.put("repeats", plan.repeats());
        fields.put("prompt_mode", plan.mode().label());
        fields.put("prompt_mode_meaning", plan.mode().meaning());
        fields.put("same_prompts_in_all_runs", plan.keepsPrompts());
        if (plan.trace().hasBlocks()) {
            fields.put("shared_prefix_tokens", plan.trace().sharedTokens());
        }
        fields.put("seed", plan.seed());
        fields.put("warm_up_requests", plan.warmUp());
        fields.put("temperature", plan.sampling().temperature());
        fields.put("top_p", plan.sampling().topP());
        fields.put("top_k", plan.sampling().topK());
        fields.put("ignore_eos", plan.sampling().ignoresEos());
        fields.put("response_format", plan.sampling().format().name());
        fields.put("objective", objective(plan.objective()));
        return fields;
    }

    private static Map<String, Object> objective(Objective objective) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("ttft_ms", objective.ttftMillis());
        fields.put("tbt_ms", objective.tbtMillis());
        fields.put("failure_share", objective.failureShare());
        return fields;
    }

    private Map<String, Object> fields(OnlineRun run) {
        Throughput throughput = run.throughput();
        Latencies latencies = run.latencies();
        var fields = new LinkedHashMap<String, Object>();
        fields.put("backend", run.backend());
        fields.put("scale", run.scale());
        fields.put("repeat", run.repeat());
        fields.put("started", run.started().toString());
        fields.put("seconds", Fields.rounded(throughput.seconds()));
        fields.put("requests", throughput.requests());
        fields.put("failed", throughput.failed());
        fields.put("failure_examples", examples(run.samples()));
        fields.put("prompt_tokens", throughput.promptTokens());
        fields.put("output_tokens", throughput.outputTokens());
        fields.put("chunks", throughput.chunks());
        fields.put("tokens_counted_by", countedBy(throughput));
        fields.put("prompt_length_mismatches", mismatches(run.samples(), true));
        fields.put("output_length_mismatches", mismatches(run.samples(), false));
        fields.put("cached_tokens", cached(run.samples()));
        fields.put("requests_per_second", Fields.rounded(throughput.requestsPerSecond()));
        fields.put("output_tokens_per_second", Fields.rounded(throughput.outputTokensPerSecond()));
        fields.put("total_tokens_per_second", Fields.rounded(throughput.totalTokensPerSecond()));
        fields.put("goodput_per_second", Fields.rounded(throughput.goodput(run.samples(), plan.objective())));
        fields.put("ttft_ms", Fields.of(latencies.ttft()));
        fields.put("tpot_ms", Fields.of(latencies.tpot()));
        fields.put("itl_ms", Fields.of(latencies.itl()));
        fields.put("e2e_ms", Fields.of(latencies.e2e()));
        fields.put(
                "scheduling_error_ms",
                Fields.summary(Distribution.of(run.samples().stream().mapToDouble(RequestSample::latenessMillis))));
        fields.put("energy", energy(run, throughput));
        fields.put("processors", run.processors().fields());
        fields.put("timeline_fields", List.of("start_s", "first_s", "end_s", "tokens"));
        fields.put("timeline", timeline(run.samples()));
        return fields;
    }

    private static List<Map<String, Object>> energy(OnlineRun run, Throughput throughput) {
        return run.energy().isEmpty()
                ? List.of(Map.of("absent", "neither NVIDIA's tool nor a readable counter of the processor is here"))
                : run.energy().stream()
                        .map(energy -> energy.fields(throughput.outputTokens()))
                        .toList();
    }

    static List<String> examples(List<RequestSample> samples) {
        return samples.stream()
                .flatMap(sample -> sample.failure().stream())
                .distinct()
                .limit(MAX_EXAMPLES)
                .toList();
    }

    private static String countedBy(Throughput throughput) {
        int answered = throughput.requests() - throughput.failed();
        if (throughput.counted() == answered) {
            return "usage";
        }
        return throughput.counted() == 0 ? "chunks" : "usage, and chunks where it was missing";
    }

    private static long mismatches(List<RequestSample> samples, boolean ofPrompt) {
        return samples.stream()
                .filter(sample -> sample.usage()
                        .map(usage -> ofPrompt
                                ? usage.prompt() != sample.promptTokens()
                                : usage.completion() != sample.wantedTokens())
                        .orElse(false))
                .count();
    }

    /** Prompt tokens that came from a cache; −1 where no endpoint tells. */
    private static long cached(List<RequestSample> samples) {
        boolean isTold = samples.stream()
                .anyMatch(sample ->
                        sample.usage().map(usage -> usage.cached() >= 0).orElse(false));
        return !isTold
                ? -1
                : samples.stream()
                        .mapToLong(sample -> sample.usage()
                                .map(usage -> Math.max(0, usage.cached()))
                                .orElse(0))
                        .sum();
    }

    private static List<List<Double>> timeline(List<RequestSample> samples) {
        long start = samples.stream().mapToLong(RequestSample::intended).min().orElse(0);
        return samples.stream()
                .filter(RequestSample::hasFirst)
                .limit(MAX_TIMELINE)
                .map(sample -> List.of(
                        seconds(sample.intended() - start),
                        seconds(sample.chunks().at(0) - start),
                        seconds(sample.ended() - start),
                        (double) sample.tokens()))
                .toList();
    }

    private static double seconds(long nanos) {
        return Fields.rounded(nanos / 1e9);
    }
}
