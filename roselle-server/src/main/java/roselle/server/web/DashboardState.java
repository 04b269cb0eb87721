package roselle.server.web;

import java.util.function.ToLongFunction;
import roselle.engine.EngineStatus;
import roselle.engine.EngineTotals;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.ServedModel;
import roselle.server.http.JsonText;

/** What the dashboard draws, as one JSON object; the page asks for it once a second while it is on screen. */
final class DashboardState {
    private final Models models;
    private final Readiness readiness;
    private final RequestLog log;
    private final long beginNanos = System.nanoTime();

    DashboardState(Models models, Readiness readiness, RequestLog log) {
        this.models = models;
        this.readiness = readiness;
        this.log = log;
    }

    JsonText write() {
        var json = new JsonText().raw("{\"uptime_millis\":").number((System.nanoTime() - beginNanos) / 1_000_000);
        json.raw(",\"complaint\":").stringOrNull(readiness.complaint().orElse(""));
        totals(json);
        latency(json.raw(",\"first_token\":"), log.firstTokens());
        latency(json.raw(",\"between_tokens\":"), log.gaps());
        String separator = ",\"models\":[";
        for (ServedModel model : models.all()) {
            model(json.raw(separator), model);
            separator = ",";
        }
        separator = "],\"recent\":[";
        for (LoggedRequest request : log.latest()) {
            request.write(json.raw(separator), beginNanos);
            separator = ",";
        }
        return json.raw(separator.equals(",") ? "]}" : separator + "]}");
    }

    private void totals(JsonText json) {
        json.raw(",\"requests\":").number(log.requests()).raw(",\"failed\":").number(log.failures());
        json.raw(",\"prompt_tokens\":").number(sum(EngineTotals::promptTokens));
        json.raw(",\"cached_tokens\":").number(sum(EngineTotals::cachedTokens));
        json.raw(",\"output_tokens\":").number(sum(EngineTotals::generatedTokens));
    }

    private long sum(ToLongFunction<EngineTotals> count) {
        return models.all().stream()
                .mapToLong(model -> count.applyAsLong(model.engine().status().totals()))
                .sum();
    }

    /** Percentiles in microseconds. */
    private static void latency(JsonText json, Samples samples) {
        long[] sorted = samples.sorted();
        json.raw("{\"count\":").number(sorted.length);
        json.raw(",\"p50\":").number(Samples.percentile(sorted, 0.50) / 1000);
        json.raw(",\"p90\":").number(Samples.percentile(sorted, 0.90) / 1000);
        json.raw(",\"p99\":").number(Samples.percentile(sorted, 0.99) / 1000).raw("}");
    }

    private static void model(JsonText json, ServedModel model) {
        EngineStatus status = model.engine().status();
        json.raw("{\"name\":").string(model.name());
        json.raw(",\"running\":").number(status.running());
        json.raw(",\"waiting\":").number(status.waiting() + status.preempted());
        json.raw(",\"used_pages\":").number(status.usedPages());
        json.raw(",\"cached_pages\":").number(status.cachedPages());
        json.raw(",\"total_pages\":").number(status.totalPages());
        json.raw(",\"steps\":").number(status.totals().steps());
        json.raw(",\"last_step_micros\":").number(status.lastStepNanos() / 1000).raw("}");
    }
}
