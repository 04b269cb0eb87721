package roselle.server.openai;

import java.io.IOException;
import roselle.api.Prompt;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/**
 * {@code /v1/chat/completions/render} and {@code /v1/completions/render}: the tokens that a request would be answered from,
 * and nothing computed. Gateways that know which server holds which prefix ask for them, with the request itself as body,
 * before they choose one (vLLM's paths, as llm-d's endpoint picker calls them).
 */
final class RenderRoutes {
    private final Answers answers;

    RenderRoutes(Answers answers) {
        this.answers = answers;
    }

    void register(Routes routes) {
        routes.post("/v1/chat/completions/render", this::chat).post("/v1/completions/render", this::completion);
    }

    private void chat(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            ChatCall call = new ChatReader(admitted.models()).read(exchange.json());
            var body = new JsonWriter();
            tokens(body, admitted, call.model(), call.request().prompt());
            exchange.sendJson(200, body);
        }
    }

    private void completion(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            CompletionCall call = new CompletionReader(admitted.models()).read(exchange.json(), admitted);
            var body = new JsonWriter().array();
            for (var request : call.requests()) {
                tokens(body, admitted, call.model(), request.prompt());
            }
            exchange.sendJson(200, body.endArray());
        }
    }

    private static void tokens(JsonWriter body, AdmittedRequest admitted, ServedModel model, Prompt prompt) {
        int[] ids = admitted.tokenize(model, prompt);
        if (ids.length == 0) {
            throw ApiException.invalid("prompt", "prompt is empty: nothing can be answered from no tokens");
        }
        body.object().field("model", model.name()).array("token_ids");
        for (int id : ids) {
            body.value(id);
        }
        body.endArray().endObject();
    }
}
