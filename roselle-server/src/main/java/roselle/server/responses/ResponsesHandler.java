package roselle.server.responses;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import roselle.api.ChatMessage;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonText;

/** {@code /v1/responses}: answers whole or as a stream, and what was kept of them. */
final class ResponsesHandler implements Handler {
    private final Answers answers;
    private final ResponseStore store = new ResponseStore();
    private final ResponseReader reader;

    ResponsesHandler(Answers answers) {
        this.answers = answers;
        reader = new ResponseReader(answers.models(), store);
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var visit = answers.admit(exchange)) {
            ResponseCall call = reader.read(exchange.json(), visit.key());
            try (Answer answer = visit.submit(call.model(), call.request())) {
                var body = new ResponseBody(call, Instant.now().getEpochSecond());
                if (call.streams()) {
                    stream(answer, body, new ResponseStream(exchange.stream(), body), visit.key(), call);
                } else {
                    collect(answer, body);
                    keep(call, body, visit.key());
                    var json = new JsonText();
                    body.write(json);
                    exchange.sendJson(200, json);
                }
            }
        }
    }

    private void stream(Answer answer, ResponseBody body, ResponseStream stream, String key, ResponseCall call)
            throws IOException {
        stream.begin();
        while (answer.hasNext()) {
            switch (answer.next()) {
                case TokenGenerated token -> {
                    body.add(token.text(), token.logprobs());
                    stream.token(token.text(), token.logprobs());
                }
                case ChoiceEnded end -> {
                    body.add(end.text(), List.of());
                    body.end(end.reason());
                    if (!end.text().isEmpty()) {
                        stream.token(end.text(), List.of());
                    }
                }
                case Finished finished -> {
                    body.used(finished.usage());
                    keep(call, body, key);
                    stream.finish();
                }
                case PromptScored _, Failed _ -> {} // neither asked for nor handed out
            }
        }
    }

    private static void collect(Answer answer, ResponseBody body) {
        while (answer.hasNext()) {
            switch (answer.next()) {
                case TokenGenerated token -> body.add(token.text(), token.logprobs());
                case ChoiceEnded end -> {
                    body.add(end.text(), List.of());
                    body.end(end.reason());
                }
                case Finished finished -> body.used(finished.usage());
                case PromptScored _, Failed _ -> {} // neither asked for nor handed out
            }
        }
    }

    private void keep(ResponseCall call, ResponseBody body, String key) {
        if (call.stores()) {
            var conversation = new ArrayList<>(call.conversation());
            conversation.add(ChatMessage.assistant(body.text()));
            var json = new JsonText();
            body.write(json);
            store.keep(body.id(), new ResponseStore.Kept(key, conversation, json.toString()));
        }
    }

    /** {@code GET /v1/responses/…}. */
    void find(Exchange exchange) {
        try (var visit = answers.admit(exchange)) {
            var kept = store.find(exchange.rest(), visit.key());
            exchange.sendJson(200, new JsonText().raw(kept.bodyBytes()));
        }
    }

    /** {@code DELETE /v1/responses/…}. */
    void remove(Exchange exchange) {
        try (var visit = answers.admit(exchange)) {
            store.remove(exchange.rest(), visit.key());
            exchange.sendJson(
                    200,
                    new JsonText()
                            .raw("{\"id\":")
                            .string(exchange.rest())
                            .raw(",\"object\":\"response\",\"deleted\":true}"));
        }
    }
}
