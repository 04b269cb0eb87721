package roselle.server.web;

import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import roselle.engine.EngineStatus;
import roselle.engine.EngineTotals;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.ServedModel;
import roselle.server.http.JsonWriter;
import roselle.server.pool.EnginePool;
import roselle.server.pool.PoolTotals;

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

    JsonWriter write() {
        var json = new JsonWriter().object().field("uptime_millis", (System.nanoTime() - beginNanos) / 1_000_000);
        json.fieldOrNull("complaint", readiness.complaint().orElse(""));
        totals(json);
        latency(json.object("first_token"), log.firstTokens());
        latency(json.object("between_tokens"), log.gaps());
        json.array("models");
        models.bases().forEach(model -> model(json, model));
        json.endArray();
        memory(json);
        json.array("recent");
        log.latest().forEach(request -> request.write(json, beginNanos));
        return json.endArray().endObject();
    }

    /** All models, loaded or not, and what those take that are. */
    private void memory(JsonWriter json) {
        List<ListedModel> bases = models.listed().stream()
                .filter(model -> model.parent().isEmpty())
                .toList();
        Optional<PoolTotals> totals = models.pool().map(pool -> pool.models().totals());
        long held = totals.map(PoolTotals::heldBytes)
                .orElseGet(() ->
                        bases.stream().mapToLong(model -> model.state().bytes()).sum());
        json.field("held_bytes", held)
                .field("budget_bytes", totals.map(PoolTotals::budgetBytes).orElse(0L))
                .field("host_bytes", models.pool().map(EnginePool::hostBytes).orElse(0L))
                .field(
                        "host_budget_bytes",
                        models.pool().map(EnginePool::hostBudget).orElse(0L))
                .array("listed");
        bases.forEach(model -> json.object()
                .field("name", model.name())
                .field("state", model.state().word())
                .field("percent", model.state().percent())
                .field("bytes", model.state().bytes())
                .field("host_bytes", model.state().hostBytes())
                .field("users", model.state().users())
                .endObject());
        json.endArray();
    }

    private void totals(JsonWriter json) {
        json.field("requests", log.requests())
                .field("failed", log.failures())
                .field("prompt_tokens", sum(EngineTotals::promptTokens))
                .field("cached_tokens", sum(EngineTotals::cachedTokens))
                .field("output_tokens", sum(EngineTotals::generatedTokens));
    }

    private long sum(ToLongFunction<EngineTotals> count) {
        return models.bases().stream()
                .mapToLong(model -> count.applyAsLong(model.engine().status().totals()))
                .sum();
    }

    /** Percentiles in microseconds. */
    private static void latency(JsonWriter json, Samples samples) {
        long[] sorted = samples.sorted();
        json.field("count", sorted.length)
                .field("p50", Samples.percentile(sorted, 0.50) / 1000)
                .field("p90", Samples.percentile(sorted, 0.90) / 1000)
                .field("p99", Samples.percentile(sorted, 0.99) / 1000)
                .endObject();
    }

    private static void model(JsonWriter json, ServedModel model) {
        EngineStatus status = model.engine().status();
        json.object()
                .field("name", model.name())
                .field("running", status.running())
                .field("waiting", status.waiting() + status.preempted())
                .field("used_pages", status.usedPages())
                .field("cached_pages", status.cachedPages())
                .field("total_pages", status.totalPages())
                .field("steps", status.totals().steps())
                .field("last_step_micros", status.lastStepNanos() / 1000)
                .endObject();
    }
}
