package roselle.server.control;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.http.Dialect;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelState;
import roselle.server.pool.PoolTotals;

/** Which models there are and where they stand, and how operators load and unload them; {@code roselle ps} asks here. */
public final class PoolDialect implements Dialect {
    private final Answers answers;
    private final Models models;

    public PoolDialect(Answers answers) {
        this.answers = answers;
        models = answers.models();
    }

    @Override
    public void register(Routes routes) {
        routes.get("/models", this::list).post("/models/load", this::load).post("/models/unload", this::unload);
    }

    private void list(Exchange exchange) {
        var json = new JsonWriter().object();
        memory(json.object("memory"));
        json.array("models");
        models.given().stream().filter(model -> model.parent().isEmpty()).forEach(model -> model(json.object(), model));
        exchange.sendJson(200, json.endArray().endObject());
    }

    /** Of models that stay as they are, nothing but their own sum is known. */
    private void memory(JsonWriter json) {
        Optional<PoolTotals> totals = models.pool().map(pool -> pool.models().totals());
        long held = totals.map(PoolTotals::heldBytes)
                .orElseGet(() -> models.given().stream()
                        .filter(model -> model.parent().isEmpty())
                        .mapToLong(model -> model.state().bytes())
                        .sum());
        json.field("used_bytes", held)
                .field("budget_bytes", totals.map(PoolTotals::budgetBytes).orElse(0L))
                .field(
                        "host_used_bytes",
                        models.pool().map(EnginePool::hostBytes).orElse(0L))
                .field(
                        "host_budget_bytes",
                        models.pool().map(EnginePool::hostBudget).orElse(0L))
                .endObject();
    }

    private static void model(JsonWriter json, ListedModel model) {
        ModelState state = model.state();
        json.field("name", model.name()).array("aliases");
        state.aliases().forEach(json::value);
        json.endArray()
                .field("state", state.word())
                .field("percent", state.percent())
                .field("bytes", state.bytes())
                .field("least_bytes", state.plan().leastBytes())
                .field("most_bytes", state.plan().bytes())
                .field("host_bytes", state.hostBytes())
                .field("context", state.plan().context())
                .field("users", state.users())
                .field("pinned", state.isPinned());
        Optional<Duration> time = state.unloadsAfter();
        if (time.isPresent()) {
            json.field("unloads_after_seconds", time.get().toSeconds());
        } else {
            json.nullField("unloads_after_seconds");
        }
        json.fieldOrNull("failure", state.failure()).endObject();
    }

    /** Answers when the model is loaded. */
    private void load(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Optional<String> name = fields.string("model");
            fields.refuseOthers();
            models.requirePool();
            name.ifPresent(models::permit);
            tell(exchange, admitted.models().any(name).name(), "loaded");
        }
    }

    /** Answers at once; requests that use the model go on to their ends before it is unloaded. */
    private void unload(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Optional<String> name = fields.string("model");
            fields.refuseOthers();
            EnginePool pool = models.requirePool();
            String model = models.pooledName(pool, name);
            tell(exchange, model, pool.models().dismiss(model) ? "unloading" : "unloaded");
        }
    }

    private static void tell(Exchange exchange, String model, String state) {
        exchange.sendJson(
                200,
                new JsonWriter()
                        .object()
                        .field("model", model)
                        .field("state", state)
                        .endObject());
    }
}
