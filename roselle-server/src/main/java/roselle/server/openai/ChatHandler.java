package roselle.server.openai;

import java.io.IOException;
import java.time.Instant;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.RequestIds;

/** {@code /v1/chat/completions}, whole or as a stream. */
final class ChatHandler implements Handler {
    private final Answers answers;

    ChatHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(fields.bool("stream", false));
            ChatCall call = new ChatReader(admitted.models()).read(fields);
            try (Answer answer = admitted.submit(call.model(), call.request())) {
                var head = new AnswerHead(
                        RequestIds.next("chatcmpl-"), Instant.now().getEpochSecond(), call.model());
                if (call.streams()) {
                    stream(answer, new ChatStream(exchange.stream(), head, call));
                } else {
                    exchange.sendJson(200, collected(answer, call).body(head));
                }
            }
        }
    }

    private static void stream(Answer answer, ChatStream stream) throws IOException {
        while (answer.hasNext()) {
            switch (answer.next()) {
                case Reasoning thought -> stream.thought(thought);
                case ToolCallStarted started -> stream.call(started);
                case ToolCallDelta delta -> stream.arguments(delta);
                case ToolCall _ -> {} // its deltas have told it
                case TokenGenerated token -> stream.token(token);
                case ChoiceEnded end -> stream.end(end);
                case Finished finished -> stream.finish(finished.usage());
                case PromptScored _, Failed _ -> {} // neither asked for nor handed out
            }
        }
    }

    private static ChatAnswer collected(Answer answer, ChatCall call) {
        var whole = new ChatAnswer(call);
        while (answer.hasNext()) {
            whole.add(answer.next());
        }
        return whole;
    }
}
