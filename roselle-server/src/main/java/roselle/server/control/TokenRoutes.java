package roselle.server.control;

import java.io.IOException;
import java.util.List;
import roselle.api.Prompt;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.chat.ChatPrompt;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonText;
import roselle.server.http.Routes;
import roselle.tokenizer.Tokenizer;

/** {@code /tokenize} and {@code /detokenize}, in vLLM's form. */
final class TokenRoutes {
    private static final int MOST_TOKENS = 10_000_000;

    private final Answers answers;
    private final Models models;

    TokenRoutes(Answers answers) {
        this.answers = answers;
        models = answers.models();
    }

    void register(Routes routes) {
        routes.post("/tokenize", admitted(this::tokenize)).post("/detokenize", admitted(this::detokenize));
    }

    private Handler admitted(Handler handler) {
        return exchange -> {
            try (var _ = answers.admit(exchange)) {
                handler.handle(exchange);
            }
        };
    }

    private void tokenize(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        ServedModel model = models.named(fields.string("model"));
        Prompt prompt = prompt(fields);
        boolean tellsTexts = fields.bool("return_token_strs", false);
        fields.refuseOthers();
        int[] ids = model.engine().tokenize(prompt);
        var body = new JsonText()
                .raw("{\"count\":")
                .number(ids.length)
                .raw(",\"max_model_len\":")
                .number(model.engine().maxContext())
                .raw(",\"tokens\":[");
        for (int index = 0; index < ids.length; index++) {
            body.raw(index == 0 ? "" : ",").number(ids[index]);
        }
        body.raw("],\"token_strs\":");
        texts(body, model.engine().tokenizer(), tellsTexts ? ids : null);
        exchange.sendJson(200, body.raw("}"));
    }

    private static void texts(JsonText body, Tokenizer tokenizer, int @org.jspecify.annotations.Nullable [] ids) {
        if (ids == null) {
            body.raw("null");
            return;
        }
        body.raw("[");
        for (int index = 0; index < ids.length; index++) {
            body.raw(index == 0 ? "" : ",").string(tokenizer.spellingOf(ids[index]));
        }
        body.raw("]");
    }

    private static Prompt prompt(JsonFields fields) {
        if (fields.has("messages") == fields.has("prompt")) {
            throw ApiException.invalid("prompt", "send either prompt or messages");
        }
        if (fields.has("messages")) {
            fields.requireDefault("add_special_tokens", "the chat template adds them", false);
            return ChatPrompt.read(fields);
        }
        return new Prompt.Text(fields.requiredString("prompt"), fields.bool("add_special_tokens", true), false);
    }

    private void detokenize(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        ServedModel model = models.named(fields.string("model"));
        Tokenizer tokenizer = model.engine().tokenizer();
        if (!fields.has("tokens")) {
            throw fields.missing("tokens");
        }
        List<Integer> ids = fields.integers("tokens", 0, tokenizer.vocabularySize() - 1, MOST_TOKENS);
        fields.refuseOthers();
        String text = tokenizer.decode(ids.stream().mapToInt(Integer::intValue).toArray(), false);
        exchange.sendJson(200, new JsonText().raw("{\"prompt\":").string(text).raw("}"));
    }
}
