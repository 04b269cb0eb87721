package roselle.server.openai;

import java.io.IOException;
import java.util.List;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.chat.AnswerPiece;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerPiece.Content;
import roselle.server.chat.AnswerPiece.Thought;
import roselle.server.chat.AnswerSplitter;
import roselle.server.http.EventStream;
import roselle.server.http.JsonWriter;
import roselle.server.openai.common.Logprobs;

/**
 * The events of a chat completion as a stream: one for each token.
 *
 * <p>What all of them begin with is made once; a token adds its choice and its text.
 */
final class ChatStream {
    private static final String CONTENT = "content";
    private static final String THOUGHT = "reasoning_content";

    private final EventStream events;
    private final JsonWriter.Opening opening;
    private final boolean reportsUsage;
    private final boolean[] hasRole;
    private final List<AnswerSplitter> splitters;

    ChatStream(EventStream events, AnswerHead head, ChatCall call, List<AnswerSplitter> splitters) {
        this.events = events;
        this.splitters = splitters;
        reportsUsage = call.reportsUsage();
        opening = head.opening("chat.completion.chunk");
        hasRole = new boolean[call.request().output().choices()];
    }

    void token(TokenGenerated token) throws IOException {
        introduce(token.choice());
        List<AnswerPiece> pieces = splitters.get(token.choice()).add(token);
        if (pieces.size() == 1 && pieces.getFirst() instanceof Content content) {
            text(token.choice(), CONTENT, content.text(), token.logprobs());
        } else if (pieces.isEmpty()) { // half of a character, a mark, or part of a call
            text(token.choice(), CONTENT, "", token.logprobs());
        } else {
            pieces(token.choice(), pieces, token.logprobs());
        }
        events.send();
    }

    private void pieces(int choice, List<AnswerPiece> pieces, List<TokenLogprob> logprobs) {
        List<TokenLogprob> once = logprobs;
        for (AnswerPiece piece : pieces) {
            switch (piece) {
                case Content content -> text(choice, CONTENT, content.text(), once);
                case Thought thought -> text(choice, THOUGHT, thought.text(), once);
                case Call call -> call(choice, call, once);
            }
            once = List.of();
        }
    }

    private void text(int choice, String field, String text, List<TokenLogprob> logprobs) {
        end(delta(choice).field(field, text), logprobs);
    }

    private void call(int choice, Call call, List<TokenLogprob> logprobs) {
        JsonWriter chunk = delta(choice).array("tool_calls");
        AnswerParts.call(chunk, call, true);
        end(chunk.endArray(), logprobs);
    }

    void end(ChoiceEnded end) throws IOException {
        introduce(end.choice());
        AnswerSplitter splitter = splitters.get(end.choice());
        pieces(end.choice(), splitter.finish(end.text()), List.of());
        JsonWriter chunk = delta(end.choice()).endObject().nullField("logprobs");
        end(chunk.field("finish_reason", AnswerParts.reason(end.reason(), splitter.hasCalled())));
        events.send();
    }

    void finish(Usage usage) throws IOException {
        if (reportsUsage) {
            JsonWriter chunk = events.event().begin(opening).endArray();
            AnswerParts.chatUsage(chunk.name("usage"), usage, splitters);
            chunk.endObject();
            events.end();
        }
        events.finish();
    }

    /** The first chunk of a choice says who speaks; it leaves together with the first token. */
    private void introduce(int choice) {
        if (!hasRole[choice]) {
            hasRole[choice] = true;
            end(delta(choice).field("role", "assistant").field(CONTENT, ""), List.of());
        }
    }

    /** Begins a chunk, up to the members of a choice's delta. */
    private JsonWriter delta(int choice) {
        return events.event().begin(opening).object().field("index", choice).object("delta");
    }

    /** Ends a delta and its chunk, of a choice that goes on. */
    private void end(JsonWriter chunk, List<TokenLogprob> logprobs) {
        chunk.endObject();
        if (logprobs.isEmpty()) {
            chunk.nullField("logprobs");
        } else {
            chunk.object("logprobs").array("content");
            Logprobs.write(chunk, logprobs);
            chunk.endArray().nullField("refusal").endObject();
        }
        end(chunk.nullField("finish_reason"));
    }

    /** Ends a choice and its chunk. */
    private void end(JsonWriter chunk) {
        chunk.endObject().endArray();
        if (reportsUsage) {
            chunk.nullField("usage");
        }
        chunk.endObject();
        events.end();
    }
}
