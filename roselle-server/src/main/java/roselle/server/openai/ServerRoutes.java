package roselle.server.openai;

import roselle.engine.EnginePlan;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** What vLLM's server tells of itself: its sizes, and whether it sleeps. */
final class ServerRoutes {
    private final Models models;

    ServerRoutes(Models models) {
        this.models = models;
    }

    void register(Routes routes) {
        routes.get("/server_info", this::information);
        new SleepRoutes(models).register(routes);
    }

    /** Sizes of the only model's engine, or of that of the query's {@code model}, by vLLM's names. */
    private void information(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        EnginePlan plan = model.engine().plan();
        var json = new JsonWriter().object().object("vllm_config");
        json.object("model_config")
                .field("served_model_name", model.name())
                .field("max_model_len", model.engine().context())
                .endObject();
        json.object("cache_config")
                .field("block_size", plan.pageTokens())
                .field("num_gpu_blocks", model.engine().status().totalPages())
                .endObject();
        json.object("scheduler_config")
                .field("max_num_seqs", plan.maxSequences())
                .field("max_num_batched_tokens", plan.stepTokens())
                .endObject();
        exchange.sendJson(200, json.endObject().endObject());
    }
}
