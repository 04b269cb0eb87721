package roselle.server.tgi;

import java.io.IOException;
import java.util.Arrays;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
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

/**
 * Texts continued, whole or as a stream. A stream's last event has the last token and all that is told at the end, so each event
 * leaves when the next token is there.
 */
final class GenerateHandler {
    private final Answers answers;

    GenerateHandler(Answers answers) {
        this.answers = answers;
    }

    void handle(Exchange exchange, GenerateReader.Form form) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(GenerateReader.streams(fields, form));
            GenerateCall call = new GenerateReader(admitted.models()).read(fields, form);
            try (Answer answer = admitted.submit(call.model(), cut(call, admitted))) {
                var generated = new GenerateAnswer(call, answer.promptTokens());
                if (call.streams()) {
                    stream(answer, generated, exchange.stream());
                } else {
                    while (answer.hasNext()) {
                        generated.add(answer.next());
                    }
                    exchange.sendJson(200, generated.write(new JsonWriter()));
                }
            }
        }
    }

    /** The request with the last tokens of its prompt alone, where it asks for that. */
    private static GenerationRequest cut(GenerateCall call, AdmittedRequest admitted) {
        GenerationRequest request = call.request();
        if (call.keptTokens().isEmpty()) {
            return request;
        }
        int[] ids = admitted.tokenize(call.model(), request.prompt());
        int begin = Math.max(0, ids.length - call.keptTokens().getAsInt());
        return new GenerationRequest(
                Prompt.Tokens.of(Arrays.copyOfRange(ids, begin, ids.length)),
                request.sampling(),
                request.stop(),
                request.output(),
                request.scheduling(),
                request.format());
    }

    private static void stream(Answer answer, GenerateAnswer generated, EventStream events) throws IOException {
        while (answer.hasNext()) {
            GenerationEvent event = answer.next();
            generated.add(event);
            if (event instanceof TokenGenerated && generated.tokens() > 1) {
                generated.writeSettled(events.event());
                events.send();
            } else if (event instanceof ChoiceEnded && generated.tokens() > 0) {
                generated.writeLast(events.event());
                events.send();
            }
        }
        events.finish();
    }
}
