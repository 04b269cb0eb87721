package roselle.server.ollama;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.answer.Models;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.ollama.CallReader.Call;
import roselle.server.pool.EnginePool;

/** {@code /api/chat} and {@code /api/generate}, in lines unless a whole is asked for. */
final class AnswerHandler {
    private final Answers answers;

    AnswerHandler(Answers answers) {
        this.answers = answers;
    }

    private interface Reading {
        Call of(CallReader reader, JsonFields fields);
    }

    void chat(Exchange exchange) throws IOException {
        answer(exchange, CallReader::chat, true);
    }

    void generate(Exchange exchange) throws IOException {
        answer(exchange, CallReader::generate, false);
    }

    private void answer(Exchange exchange, Reading reading, boolean isChat) throws IOException {
        long begin = System.nanoTime();
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Models models = admitted.models();
            if (models.pool().isPresent() && CallReader.unloads(fields)) {
                unload(exchange, fields, models.pool().get(), isChat);
                return;
            }
            admitted.streaming(fields.bool("stream", true));
            Call call = reading.of(new CallReader(models, admitted::tokenize), fields);
            KeepAlive.requireAllowed(call.keepAlive(), exchange);
            call.keepAlive().ifPresent(admitted::keepAlive);
            if (call.requests().isEmpty()) {
                done(exchange, call.streams(), call.name(), isChat, "load");
                return;
            }
            GenerationRequest request = behindContext(call, admitted);
            var lines = new AnswerLines(call, System.nanoTime() - begin);
            try (Answer answer = admitted.submitWithin(call.longest(), "options.num_ctx", call.model(), request)) {
                if (call.streams()) {
                    stream(answer, lines, exchange.stream());
                } else {
                    exchange.sendJson(200, whole(answer, lines));
                }
            }
        }
    }

    /** Has a model go as soon as nobody uses it; it is not loaded for that. */
    private void unload(Exchange exchange, JsonFields fields, EnginePool pool, boolean isChat) throws IOException {
        String name = ModelNames.pooled(fields, answers.models(), pool);
        boolean streams = fields.bool("stream", true);
        fields.refuseOthers();
        KeepAlive.requireAllowed(Optional.of(Duration.ZERO), exchange);
        pool.models().unload(name);
        done(exchange, streams, fields.string("model").orElse(name), isChat, "unload");
    }

    private static void done(Exchange exchange, boolean streams, String model, boolean isChat, String reason)
            throws IOException {
        if (streams) {
            AnswerLines.writeDone(exchange.stream().event(), model, isChat, reason);
            exchange.stream().finish();
        } else {
            var json = new JsonWriter();
            AnswerLines.writeDone(json, model, isChat, reason);
            exchange.sendJson(200, json);
        }
    }

    /** The request with the tokens of an earlier answer before its own. */
    private static GenerationRequest behindContext(Call call, AdmittedRequest admitted) {
        GenerationRequest request = call.requests().getFirst();
        if (call.context().isEmpty()) {
            return request;
        }
        List<Integer> ids = new ArrayList<>(call.context());
        for (int id : admitted.tokenize(call.model(), request.prompt())) {
            ids.add(id);
        }
        return request.with(new Prompt.Tokens(ids));
    }

    private static void stream(Answer answer, AnswerLines lines, EventStream events) throws IOException {
        while (answer.hasNext()) {
            GenerationEvent event = answer.next();
            lines.add(event);
            boolean isStep = event instanceof TokenGenerated || event instanceof ChoiceEnded; // parts came before
            if (isStep && lines.hasMore()) {
                lines.write(events.event());
                events.send();
            }
            if (event instanceof Finished) {
                lines.writeLast(events.event(), answer.promptIds());
            }
        }
        events.finish();
    }

    private static JsonWriter whole(Answer answer, AnswerLines lines) {
        while (answer.hasNext()) {
            lines.add(answer.next());
        }
        var json = new JsonWriter();
        lines.writeLast(json, answer.promptIds());
        return json;
    }
}
