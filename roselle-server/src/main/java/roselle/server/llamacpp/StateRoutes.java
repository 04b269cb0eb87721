package roselle.server.llamacpp;

import java.io.IOException;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;
import roselle.engine.Engine;
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
import roselle.server.prompt.PenaltyWindow;

/** What llama.cpp's server tells of a model: what it was started with, how busy it is, how it writes a conversation. */
final class StateRoutes {
    private final Answers answers;
    private final Models models;
    private final String version;

    /** What a server of this version tells. */
    StateRoutes(Answers answers, String version) {
        this.version = version;
        this.answers = answers;
        models = answers.models();
    }

    void register(Routes routes) {
        routes.get("/props", this::properties).get("/slots", this::slots).post("/apply-template", this::template);
    }

    /** What the only model, or that of the query's {@code model}, was started with. */
    private void properties(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        Engine engine = model.engine();
        var json = new JsonWriter().object();
        json.object("default_generation_settings").field("n_ctx", engine.context());
        parameters(json.object("params"), model.sampling(CompletionReader.USUAL));
        json.endObject();
        json.field("total_slots", engine.plan().maxSequences())
                .field("model_alias", model.name())
                .field("model_path", model.name()); // where its file lies is the server's own affair
        json.object("modalities").field("vision", false).field("audio", false).endObject();
        json.field("chat_template", engine.facts().chatTemplate())
                .field("bos_token", engine.beginToken())
                .field("eos_token", endToken(engine))
                .field("build_info", "roselle-" + version)
                .field("endpoint_slots", true)
                .field("endpoint_props", false)
                .field("endpoint_metrics", true)
                .field("is_sleeping", engine.cache().isAsleep());
        exchange.sendJson(200, json.endObject());
    }

    private static String endToken(Engine engine) {
        return engine.endTokens().stream()
                .findFirst()
                .map(id -> engine.tokenizer().spellingOf(id))
                .orElse("");
    }

    /** What holds where a completion leaves it open. */
    private static void parameters(JsonWriter json, SamplingParameters usual) {
        json.field("n_predict", -1)
                .field("temperature", usual.temperature())
                .field("top_k", usual.topK())
                .field("top_p", usual.topP())
                .field("min_p", usual.minP())
                .field("typical_p", usual.typicalP())
                .field("repeat_last_n", PenaltyWindow.shown(usual))
                .field("repeat_penalty", usual.repetitionPenalty())
                .field("presence_penalty", usual.presencePenalty())
                .field("frequency_penalty", usual.frequencyPenalty())
                .field("ignore_eos", false)
                .field("stream", false)
                .field("n_probs", 0)
                .endObject();
    }

    /** One slot for each answer that can be generated at a time; which answer is in which is not told. */
    private void slots(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        int running = model.engine().status().running();
        int slots = model.engine().plan().maxSequences();
        boolean failsWhereNoneIsFree =
                exchange.query("fail_on_no_slot").filter("1"::equals).isPresent();
        if (running >= slots && failsWhereNoneIsFree) {
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
            Prompt prompt = ChatPrompt.read(fields, model);
            fields.refuseOthers();
            String text = admitted.detokenize(model, admitted.tokenize(model, prompt));
            exchange.sendJson(
                    200, new JsonWriter().object().field("prompt", text).endObject());
        }
    }
}
