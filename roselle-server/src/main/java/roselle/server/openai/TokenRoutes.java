package roselle.server.openai;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import roselle.api.Prompt;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.openai.common.ChatPrompt;
import roselle.tokenizer.Tokenizer;

/** {@code /tokenize} and {@code /detokenize} in vLLM's form, and in that of llama.cpp, which has {@code content} for the text. */
final class TokenRoutes {
    private static final int MAX_TOKENS = 10_000_000;
    private static final int PORTION = 8192;
    private static final String OTHER_FORM = "it is of another form than content";
    private static final List<String> REFUSED_WITHOUT_CONTENT = List.of("add_special", "parse_special", "with_pieces");

    private final Answers answers;

    TokenRoutes(Answers answers) {
        this.answers = answers;
    }

    void register(Routes routes) {
        routes.post("/tokenize", admitted(this::tokenize)).post("/detokenize", admitted(this::detokenize));
    }

    private Handler admitted(Route route) {
        return exchange -> {
            try (var admitted = answers.admit(exchange)) {
                route.handle(exchange, admitted);
            }
        };
    }

    private interface Route {
        void handle(Exchange exchange, AdmittedRequest admitted) throws IOException;
    }

    private void tokenize(Exchange exchange, AdmittedRequest admitted) throws IOException {
        JsonFields fields = exchange.json();
        ServedModel model = admitted.models().named(fields.string("model"));
        if (fields.has("content")) {
            exchange.sendJson(200, tokensOfContent(fields, model, admitted));
            return;
        }
        REFUSED_WITHOUT_CONTENT.forEach(name -> fields.requireDefault(name, "it belongs to content"));
        Prompt prompt = prompt(fields, model);
        boolean tellsTexts = fields.bool("return_token_strs", false);
        fields.refuseOthers();
        int[] ids = admitted.tokenize(model, prompt);
        var body = new JsonWriter()
                .object()
                .field("count", ids.length)
                .field("max_model_len", model.engine().context())
                .array("tokens");
        for (int at = 0; at < ids.length; at++) {
            body.value(ids[at]);
            giveWay(at);
        }
        body.endArray();
        if (tellsTexts) {
            texts(body.array("token_strs"), model.engine().tokenizer(), ids);
        } else {
            body.nullField("token_strs");
        }
        exchange.sendJson(200, body.endObject());
    }

    private static JsonWriter tokensOfContent(JsonFields fields, ServedModel model, AdmittedRequest admitted) {
        boolean addsSpecial = fields.bool("add_special", false);
        boolean parsesSpecial = fields.bool("parse_special", true);
        boolean tellsPieces = fields.bool("with_pieces", false);
        var text = new Prompt.Text(fields.requiredString("content"), addsSpecial, parsesSpecial);
        fields.requireDefault("prompt", OTHER_FORM);
        fields.requireDefault("add_special_tokens", OTHER_FORM);
        fields.requireDefault("return_token_strs", OTHER_FORM);
        ChatPrompt.FIELDS.forEach(name -> fields.requireDefault(name, OTHER_FORM));
        fields.refuseOthers();
        int[] ids = admitted.tokenize(model, text);
        var body = new JsonWriter().object().array("tokens");
        for (int at = 0; at < ids.length; at++) {
            if (tellsPieces) {
                piece(
                        body.object().field("id", ids[at]).name("piece"),
                        model.engine().tokenizer(),
                        ids[at]);
                body.endObject();
            } else {
                body.value(ids[at]);
            }
            giveWay(at);
        }
        return body.endArray().endObject();
    }

    /** What a token stands for: a text, or the bytes that are none. */
    private static void piece(JsonWriter body, Tokenizer tokenizer, int id) {
        byte[] bytes = tokenizer.isSpecial(id)
                ? tokenizer.spellingOf(id).getBytes(StandardCharsets.UTF_8)
                : tokenizer.bytesOf(id);
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            body.value(text);
        } else {
            body.array();
            for (byte unit : bytes) {
                body.value(unit & 0xFF);
            }
            body.endArray();
        }
    }

    private static void texts(JsonWriter body, Tokenizer tokenizer, int[] ids) {
        for (int at = 0; at < ids.length; at++) {
            body.value(tokenizer.spellingOf(ids[at]));
            giveWay(at);
        }
        body.endArray();
    }

    /** Now and then, lets other requests have the processor that this one holds. */
    @SuppressWarnings("ThreadPriorityCheck") // virtual threads are not preempted: this is how one gives way
    private static void giveWay(int done) {
        if (done % PORTION == PORTION - 1) {
            Thread.yield();
        }
    }

    private static Prompt prompt(JsonFields fields, ServedModel model) {
        if (fields.has("messages") == fields.has("prompt")) {
            throw ApiException.invalid("prompt", "send either prompt or messages");
        }
        if (fields.has("messages")) {
            fields.requireDefault("add_special_tokens", "the chat template adds them", false);
            return ChatPrompt.read(fields, model);
        }
        ChatPrompt.FIELDS.forEach(name -> fields.requireDefault(name, "it belongs to messages, and there is a prompt"));
        return new Prompt.Text(fields.requiredString("prompt"), fields.bool("add_special_tokens", true), false);
    }

    private void detokenize(Exchange exchange, AdmittedRequest admitted) throws IOException {
        JsonFields fields = exchange.json();
        ServedModel model = admitted.models().named(fields.string("model"));
        Tokenizer tokenizer = model.engine().tokenizer();
        if (!fields.has("tokens")) {
            throw fields.missing("tokens");
        }
        List<Integer> ids = fields.integers("tokens", 0, tokenizer.vocabularySize() - 1, MAX_TOKENS);
        fields.refuseOthers();
        String text = admitted.detokenize(
                model, ids.stream().mapToInt(Integer::intValue).toArray());
        exchange.sendJson(
                200,
                new JsonWriter()
                        .object()
                        .field("prompt", text)
                        .field("content", text)
                        .endObject());
    }
}
