package roselle.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.bench.environment.ProcessorUse;
import roselle.bench.metric.Repeats;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.OfflineRun;

/** {@code offline_results.json}. */
public final class OfflineResults {
    public static final String SCHEMA = "roselle.bench.offline/1";

    private final Meta meta;
    private final OfflinePlan plan;
    private final List<Map<String, Object>> runs = new ArrayList<>();
    private final List<Map<String, Object>> failures = new ArrayList<>();

    public OfflineResults(Meta meta, OfflinePlan plan) {
        this.meta = meta;
        this.plan = plan;
    }

    /** Adds repeats of an engine; the words say how it was started, or which flags it had in this process. */
    public void add(OfflineRun run, List<String> command) {
        double best =
                run.seconds().stream().mapToDouble(Double::doubleValue).min().orElse(Double.NaN);
        double[] rates = run.seconds().stream()
                .mapToDouble(each -> run.outputTokens() / each)
                .toArray();
        Repeats repeats = Repeats.of(rates);
        var fields = new LinkedHashMap<String, Object>();
        fields.put("backend", run.backend());
        fields.put("path", run.path());
        fields.put("version", run.version());
        fields.put("ready_seconds", Fields.rounded(run.readySeconds()));
        fields.put("requests", run.requests());
        fields.put("prompt_tokens", run.promptTokens());
        fields.put("output_tokens", run.outputTokens());
        fields.put("seconds", run.seconds().stream().map(Fields::rounded).toList());
        fields.put("best_requests_per_second", Fields.rounded(run.requests() / best));
        fields.put("best_output_tokens_per_second", Fields.rounded(run.outputTokens() / best));
        fields.put("best_total_tokens_per_second", Fields.rounded((run.promptTokens() + run.outputTokens()) / best));
        fields.put("mean_output_tokens_per_second", Fields.rounded(repeats.mean()));
        fields.put("deviation_output_tokens_per_second", Fields.rounded(repeats.deviation()));
        fields.put("processors", run.processors().map(ProcessorUse::fields).orElse(Map.of()));
        fields.put("energy", energy(run));
        fields.put("note", run.note());
        fields.put("command", List.copyOf(command));
        runs.add(fields);
    }

    private static List<Map<String, Object>> energy(OfflineRun run) {
        long tokens = run.outputTokens() * run.seconds().size();
        return run.energy().stream().map(energy -> energy.fields(tokens)).toList();
    }

    /** Says why an engine has no figures. */
    public void addFailure(String backend, String reason) {
        failures.add(Map.of("backend", backend, "failure", reason));
    }

    public Map<String, Object> document() {
        var workload = new LinkedHashMap<String, Object>();
        workload.put("prompts", plan.prompts());
        workload.put("input_tokens", plan.inputTokens());
        workload.put("output_tokens", plan.outputTokens());
        workload.put("repeats", plan.repeats());
        workload.put("prompt_mode", "independent");
        workload.put("seed", plan.seed());
        workload.put("temperature", plan.sampling().temperature());
        workload.put("top_p", plan.sampling().topP());
        workload.put("top_k", plan.sampling().topK());
        workload.put("ignore_eos", plan.sampling().ignoresEos());
        workload.put("response_format", plan.sampling().format().name());
        var document = new LinkedHashMap<String, Object>();
        document.put("schema", SCHEMA);
        document.put("meta", meta.fields());
        document.put("workload", workload);
        document.put("runs", runs);
        document.put("failures", failures);
        return document;
    }
}
