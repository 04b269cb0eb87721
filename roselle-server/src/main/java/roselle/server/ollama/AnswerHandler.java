package roselle.server.ollama;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.ollama.CallReader.Call;

/** {@code /api/chat} and {@code /api/generate}, in lines unless a whole is asked for. */
final class AnswerHandler {
    private final Answers answers;
    private final CallReader reader;

    AnswerHandler(Answers answers) {
        this.answers = answers;
        reader = new CallReader(answers.models());
    }

    private interface Reading {
        Call of(JsonFields fields);
    }

    void chat(Exchange exchange) throws IOException {
        answer(exchange, reader::chat);
    }

    void generate(Exchange exchange) throws IOException {
        answer(exchange, reader::generate);
    }

    private void answer(Exchange exchange, Reading reading) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            Call call = reading.of(exchange.json());
            if (call.requests().isEmpty()) {
                loaded(exchange, call);
                return;
            }
            GenerationRequest request = behindContext(call, admitted);
            try (Answer answer = admitted.submitWithinContext(call.model(), request)) {
                if (call.streams()) {
                    stream(answer, call, exchange.stream());
                } else {
                    exchange.sendJson(200, whole(answer, call));
                }
            }
        }
    }

    /** Every model that can be asked is loaded. */
    private static void loaded(Exchange exchange, Call call) throws IOException {
        if (call.streams()) {
            AnswerLines.writeLoaded(exchange.stream().event(), call);
            exchange.stream().finish();
        } else {
            var json = new JsonWriter();
            AnswerLines.writeLoaded(json, call);
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

    private static void stream(Answer answer, Call call, EventStream events) throws IOException {
        var lines = new AnswerLines(call);
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

    private static JsonWriter whole(Answer answer, Call call) {
        var lines = new AnswerLines(call);
        while (answer.hasNext()) {
            lines.add(answer.next());
        }
        var json = new JsonWriter();
        lines.writeLast(json, answer.promptIds());
        return json;
    }
}
