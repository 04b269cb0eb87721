package roselle.server.llamacpp;

import java.io.IOException;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** The paths of llama.cpp's server that other dialects do not have. */
public final class LlamaCppDialect implements Dialect {
    private final Models models;
    private final CompletionHandler completion;

    public LlamaCppDialect(Answers answers) {
        models = answers.models();
        completion = new CompletionHandler(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/completion", completion)
                .get("/props", this::properties)
                .post("/props", _ -> refuse("changing properties", "they were settled when the server started"))
                .get("/slots", _ -> refuse("slots", "answers share the memory for keys and values; see /metrics"))
                .post("/infill", _ -> refuse("infill", "text cannot be filled in before a suffix"))
                .get("/lora-adapters", _ -> refuse("lora-adapters", "there are no adapters"))
                .post("/lora-adapters", _ -> refuse("lora-adapters", "there are no adapters"));
    }

    private static void refuse(String what, String why) {
        throw new ApiException(ErrorKind.NOT_SUPPORTED, what + " is not supported: " + why);
    }

    /** What the only model, or that of the query's {@code model}, was started with. */
    private void properties(Exchange exchange) throws IOException {
        ServedModel model = models.named(exchange.query("model"));
        var json = new JsonWriter().object();
        json.object("default_generation_settings")
                .field("n_ctx", model.engine().context())
                .endObject();
        json.field("total_slots", model.engine().plan().maxSequences()).field("model_alias", model.name());
        json.object("modalities").field("vision", false).field("audio", false).endObject();
        exchange.sendJson(200, json.endObject());
    }

    @Override
    public String name() {
        return "llamacpp";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(LlamaCppConventions.INSTANCE);
    }
}
