package roselle.server.openai;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.RequestIds;

/** {@code /v1/completions}: texts or token ids continued, whole or as a stream. */
final class CompletionHandler implements Handler {
    private final Answers answers;

    CompletionHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(fields.bool("stream", false));
            CompletionCall call = new CompletionReader(admitted.models()).read(fields, admitted);
            List<Answer> parts = new ArrayList<>();
            try {
                for (var request : call.requests()) {
                    parts.add(admitted.submit(call.model(), request));
                }
                answer(exchange, call, parts);
            } finally {
                parts.forEach(Answer::close);
            }
        }
    }

    private static void answer(Exchange exchange, CompletionCall call, List<Answer> parts) throws IOException {
        var head = new AnswerHead(RequestIds.next("cmpl-"), Instant.now().getEpochSecond(), call.model());
        try (var merged = new MergedAnswers(parts)) {
            if (call.streams()) {
                var stream = new CompletionStream(exchange.stream(), head, call);
                for (var next = merged.next(); next.isPresent(); next = merged.next()) {
                    stream.write(next.get().prompt(), next.get().event());
                }
                stream.finish();
            } else {
                var whole = new CompletionAnswer(call);
                for (var next = merged.next(); next.isPresent(); next = merged.next()) {
                    whole.add(next.get().prompt(), next.get().event());
                }
                exchange.sendJson(200, whole.body(head));
            }
        }
    }
}
