package roselle.server.openai;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.answer.Logprobs;
import roselle.server.http.EventStream;
import roselle.server.http.JsonWriter;

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
    private final boolean[] hasCalled;
    private final List<GenerationEvent> parts = new ArrayList<>(); // that the next token completes

    ChatStream(EventStream events, AnswerHead head, ChatCall call) {
        this.events = events;
        reportsUsage = call.reportsUsage();
        opening = head.opening("chat.completion.chunk");
        hasRole = new boolean[call.request().output().choices()];
        hasCalled = new boolean[hasRole.length];
    }

    void thought(Reasoning thought) {
        parts.add(thought);
    }

    void call(ToolCallStarted call) {
        hasCalled[call.choice()] = true;
        parts.add(call);
    }

    void arguments(ToolCallDelta delta) {
        parts.add(delta);
    }

    void token(TokenGenerated token) throws IOException {
        introduce(token.choice());
        boolean isAlone = parts.isEmpty();
        parts(token.logprobs());
        if (isAlone) { // without text it is half of a character, a mark, or part of a call
            text(token.choice(), CONTENT, token.text(), token.logprobs());
        } else if (!token.text().isEmpty()) {
            text(token.choice(), CONTENT, token.text(), List.of());
        }
        events.send();
    }

    /** Writes the thoughts and calls that were completed; the first of them tells of the token. */
    private void parts(List<TokenLogprob> logprobs) {
        List<TokenLogprob> once = logprobs;
        for (GenerationEvent part : parts) {
            if (part instanceof Reasoning thought) {
                text(thought.choice(), THOUGHT, thought.text(), once);
            } else if (part instanceof ToolCallStarted call) {
                call(call, once);
            } else if (part instanceof ToolCallDelta delta) {
                arguments(delta, once);
            }
            once = List.of();
        }
        parts.clear();
    }

    private void text(int choice, String field, String text, List<TokenLogprob> logprobs) {
        end(delta(choice).field(field, text), logprobs);
    }

    private void call(ToolCallStarted call, List<TokenLogprob> logprobs) {
        JsonWriter chunk = delta(call.choice()).array("tool_calls").object().field("index", call.index());
        AnswerParts.call(chunk, call.id(), call.name(), "");
        end(chunk.endObject().endArray(), logprobs);
    }

    private void arguments(ToolCallDelta more, List<TokenLogprob> logprobs) {
        JsonWriter chunk = delta(more.choice()).array("tool_calls").object().field("index", more.index());
        chunk.object("function").field("arguments", more.arguments()).endObject();
        end(chunk.endObject().endArray(), logprobs);
    }

    void end(ChoiceEnded end) throws IOException {
        introduce(end.choice());
        parts(List.of());
        if (!end.text().isEmpty()) {
            text(end.choice(), CONTENT, end.text(), List.of());
        }
        JsonWriter chunk = delta(end.choice()).endObject().nullField("logprobs");
        end(chunk.field("finish_reason", AnswerParts.reason(end.reason(), hasCalled[end.choice()])));
        events.send();
    }

    void finish(Usage usage) throws IOException {
        if (reportsUsage) {
            JsonWriter chunk = events.event().begin(opening).endArray();
            AnswerParts.chatUsage(chunk.name("usage"), usage);
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
