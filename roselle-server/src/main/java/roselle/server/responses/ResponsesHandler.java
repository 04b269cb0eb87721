package roselle.server.responses;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.server.answer.Admission;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.responses.ResponseOutput.Watcher;

/** {@code /v1/responses}: answers whole or as a stream, and what was kept of them. */
final class ResponsesHandler implements Handler {

    private final Answers answers;
    private final ResponseStore store = new ResponseStore();
    private final BackgroundResponses background = new BackgroundResponses(store);

    ResponsesHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(fields.bool("stream", false));
            ResponseCall call = new ResponseReader(admitted.models(), store).read(fields, admitted.key());
            if (call.asked().isInBackground()) {
                begin(exchange, admitted, call);
                return;
            }
            try (Answer answer = admitted.submit(call.model(), call.request())) {
                if (call.streams()) {
                    stream(answer, new ResponseStream(exchange.stream()), admitted.key(), call);
                } else {
                    ResponseBody body = collect(answer, call);
                    keep(call, body, admitted.key());
                    var json = new JsonWriter();
                    body.write(json);
                    exchange.sendJson(200, json);
                }
            }
        }
    }

    private void begin(Exchange exchange, Answers.AdmittedRequest admitted, ResponseCall call) {
        if (exchange.note(Admission.BROUGHT).isPresent()) {
            throw ApiException.invalid("background", "a request of a batch is in the background already: leave it out");
        }
        Answer answer = admitted.submit(call.model(), call.request());
        JsonWriter queued = background.begin(admitted, answer, body(call, Watcher.NONE));
        exchange.sendJson(200, queued);
    }

    private static ResponseBody body(ResponseCall call, Watcher watcher) {
        var tokenizer = call.model().engine().tokenizer();
        var output = new ResponseOutput(tokenizer, watcher, call.encodesThoughts());
        return new ResponseBody(call, Instant.now().getEpochSecond(), output);
    }

    private void stream(Answer answer, ResponseStream stream, String key, ResponseCall call) throws IOException {
        ResponseBody body = body(call, stream);
        stream.begin(body);
        while (answer.hasNext()) {
            GenerationEvent event = answer.next();
            take(event, body);
            if (!isPart(event)) {
                stream.send();
            }
            if (event instanceof Finished) {
                keep(call, body, key);
                stream.finish(body);
            }
        }
    }

    private static ResponseBody collect(Answer answer, ResponseCall call) {
        ResponseBody body = body(call, Watcher.NONE);
        while (answer.hasNext()) {
            take(answer.next(), body);
        }
        return body;
    }

    /** Whether the token that completed it follows, with which it is sent. */
    private static boolean isPart(GenerationEvent event) {
        return switch (event) {
            case Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _ -> true;
            case TokenGenerated _, ChoiceEnded _, PromptScored _, Finished _, Failed _ -> false;
        };
    }

    static void take(GenerationEvent event, ResponseBody body) {
        switch (event) {
            case Reasoning thought -> body.output().add(thought);
            case ToolCallStarted started -> body.output().add(started);
            case ToolCallDelta delta -> body.output().add(delta);
            case ToolCall made -> body.output().add(made);
            case TokenGenerated token -> body.output().add(token);
            case ChoiceEnded end -> body.end(end);
            case Finished finished -> body.used(finished.usage());
            case PromptScored _, Failed _ -> {} // neither asked for nor handed out
        }
    }

    private void keep(ResponseCall call, ResponseBody body, String key) {
        if (call.stores()) {
            store.keep(body.id(), ResponseStore.Kept.of(key, body));
        }
    }

    /** {@code GET /v1/responses/…}. */
    void find(Exchange exchange) {
        for (String name : List.of("stream", "starting_after", "include")) {
            if (exchange.query(name).filter(value -> !value.equals("false")).isPresent()) {
                throw ApiException.invalid(name, name + " has no effect on a response that is kept: leave it out");
            }
        }
        try (var admitted = answers.admit(exchange)) {
            var kept = store.find(exchange.rest(), admitted.key());
            exchange.sendJson(200, new JsonWriter().json(kept.bodyBytes()));
        }
    }

    /** {@code GET /v1/responses/…/input_items}. */
    void items(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            var kept = store.find(exchange.rest(), admitted.key());
            ItemsPage page = ItemsPage.of(kept.items(), exchange);
            exchange.sendJson(200, page.write(new JsonWriter()));
        }
    }

    /** {@code POST /v1/responses/…/cancel}, which is for responses in the background; what has ended stays as it is. */
    void cancel(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            String id = exchange.rest();
            if (!store.find(id, admitted.key()).isInBackground()) {
                throw new ApiException(
                        ErrorKind.NOT_SUPPORTED,
                        "the response is complete and was not made in the background, so it cannot be cancelled:"
                                + " closing the connection cancels one that is being made");
            }
            background.cancel(id);
            var kept = store.find(id, admitted.key());
            exchange.sendJson(200, new JsonWriter().json(kept.bodyBytes()));
        }
    }

    /** {@code DELETE /v1/responses/…}. */
    void remove(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            store.find(exchange.rest(), admitted.key());
            background.cancel(exchange.rest());
            store.remove(exchange.rest(), admitted.key());
            exchange.sendJson(
                    200,
                    new JsonWriter()
                            .object()
                            .field("id", exchange.rest())
                            .field("object", "response")
                            .field("deleted", true)
                            .endObject());
        }
    }
}
