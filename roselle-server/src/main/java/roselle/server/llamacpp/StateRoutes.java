package roselle.server.llamacpp;

import java.io.IOException;
import roselle.api.Prompt;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.openai.common.ChatPrompt;

/** What llama.cpp's server tells of a model: what it was started with, how busy it is, how it writes a conversation. */
final class StateRoutes {
    private final Answers answers;
    private final Models models;

    StateRoutes(Answers answers) {
        this.answers = answers;
        models = answers.models();
    }

    void register(Routes routes) {
        routes.get("/props", this::properties).get("/slots", this::slots).post("/apply-template", this::template);
    }

    /** What the only model, or that of the query's {@code model}, was started with. */
    private void properties(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        var json = new JsonWriter().object();
        json.object("default_generation_settings")
                .field("n_ctx", model.engine().context())
                .endObject();
        json.field("total_slots", model.engine().plan().maxSequences()).field("model_alias", model.name());
        json.object("modalities").field("vision", false).field("audio", false).endObject();
        exchange.sendJson(
                200,
                json.field("is_sleeping", model.engine().cache().isAsleep()).endObject());
    }

    /** One slot for each answer that can be generated at a time; which answer is in which is not told. */
    private void slots(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        int running = model.engine().status().running();
        int slots = model.engine().plan().maxSequences();
        if (running >= slots
                && exchange.query("fail_on_no_slot").filter("1"::equals).isPresent()) {
            throw new ApiException(
                    ErrorKind.OVERLOADED, "no slot is free: " + running + " answers are being generated");
        }
        var json = new JsonWriter().array();
        for (int slot = 0; slot < slots; slot++) {
            json.object()
                    .field("id", slot)
                    .field("n_ctx", model.engine().context())
                    .field("speculative", false)
                    .field("is_processing", slot < running)
                    .endObject();
        }
        exchange.sendJson(200, json.endArray());
    }

    /** The prompt that a conversation becomes, as its tokens spell it. */
    private void template(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedModel model = admitted.models().named(fields.string("model"));
            Prompt prompt = ChatPrompt.read(fields);
            fields.refuseOthers();
            String text = admitted.detokenize(model, admitted.tokenize(model, prompt));
            exchange.sendJson(
                    200, new JsonWriter().object().field("prompt", text).endObject());
        }
    }
}
