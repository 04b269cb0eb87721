package roselle.server.anthropic;

import java.io.IOException;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.anthropic.AnswerBlocks.Watcher;
import roselle.server.anthropic.MessageReader.MessageCall;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.RequestIds;

/** {@code /v1/messages}, whole or as a stream, and {@code /v1/messages/count_tokens}. */
final class MessagesHandler implements Handler {
    private final Answers answers;

    MessagesHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            admitted.streaming(fields.bool("stream", false));
            MessageCall call = new MessageReader(admitted.models()).read(fields);
            try (Answer answer = admitted.submitWithinContext(call.model(), call.request())) {
                String id = RequestIds.next("msg_");
                if (call.streams()) {
                    stream(answer, call, id, new MessageStream(exchange.stream()));
                } else {
                    exchange.sendJson(200, whole(answer, call, id));
                }
            }
        }
    }

    private static void stream(Answer answer, MessageCall call, String id, MessageStream stream) throws IOException {
        stream.begin(id, call.model().name(), answer.promptTokens());
        AnswerBlocks blocks = blocks(call, stream);
        while (answer.hasNext()) {
            GenerationEvent event = answer.next();
            blocks.add(event);
            if (event instanceof TokenGenerated || event instanceof ChoiceEnded) { // with what they made certain
                stream.send();
            }
        }
        stream.finish(blocks);
    }

    private static JsonWriter whole(Answer answer, MessageCall call, String id) {
        AnswerBlocks blocks = blocks(call, Watcher.NONE);
        while (answer.hasNext()) {
            blocks.add(answer.next());
        }
        JsonWriter json = open(new JsonWriter().object(), id, call.model().name());
        blocks.write(json.name("content"));
        blocks.writeEnd(json);
        blocks.writeUsage(json.name("usage"));
        return json.endObject();
    }

    private static AnswerBlocks blocks(MessageCall call, Watcher watcher) {
        return new AnswerBlocks(call.request().stop().maxTokens(), watcher);
    }

    /** Writes what the object of a message begins with. */
    static JsonWriter open(JsonWriter json, String id, String model) {
        return json.field("id", id)
                .field("type", "message")
                .field("role", "assistant")
                .field("model", model);
    }

    void count(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            var counted = new MessageReader(admitted.models()).readCount(exchange.json());
            int tokens = admitted.tokenize(counted.model(), counted.prompt()).length;
            exchange.sendJson(
                    200, new JsonWriter().object().field("input_tokens", tokens).endObject());
        }
    }
}
