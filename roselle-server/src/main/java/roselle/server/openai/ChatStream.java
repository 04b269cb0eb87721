package roselle.server.openai;

import java.io.IOException;
import java.util.List;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.answer.Logprobs;
import roselle.server.chat.AnswerPiece;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerPiece.Content;
import roselle.server.chat.AnswerPiece.Thought;
import roselle.server.chat.AnswerSplitter;
import roselle.server.http.JsonText;
import roselle.server.http.SseWriter;

/**
 * The events of a chat completion as a stream: one for each token.
 *
 * <p>What is the same in all of them is made once; a token adds its choice and its escaped text.
 */
final class ChatStream {
    private final SseWriter events;
    private final byte[] prefix;
    private final String suffix;
    private final boolean reportsUsage;
    private final boolean[] hasRole;
    private final List<AnswerSplitter> splitters;

    ChatStream(SseWriter events, AnswerHead head, ChatCall call, List<AnswerSplitter> splitters) {
        this.events = events;
        this.splitters = splitters;
        reportsUsage = call.reportsUsage();
        prefix = head.write(new JsonText(), "chat.completion.chunk")
                .raw("\"choices\":[")
                .toBytes();
        suffix = reportsUsage ? "],\"usage\":null}" : "]}";
        hasRole = new boolean[call.request().output().choices()];
    }

    void token(TokenGenerated token) throws IOException {
        introduce(token.choice());
        List<AnswerPiece> pieces = splitters.get(token.choice()).add(token);
        if (pieces.size() == 1 && pieces.getFirst() instanceof Content content) {
            text(token.choice(), "{\"content\":\"", content.text(), token.logprobs());
        } else if (pieces.isEmpty()) { // half of a character, a mark, or part of a call
            text(token.choice(), "{\"content\":\"", "", token.logprobs());
        } else {
            pieces(token.choice(), pieces, token.logprobs());
        }
        events.send();
    }

    private void pieces(int choice, List<AnswerPiece> pieces, List<TokenLogprob> logprobs) {
        List<TokenLogprob> once = logprobs;
        for (AnswerPiece piece : pieces) {
            switch (piece) {
                case Content content -> text(choice, "{\"content\":\"", content.text(), once);
                case Thought thought -> text(choice, "{\"reasoning_content\":\"", thought.text(), once);
                case Call call -> {
                    AnswerParts.call(delta(choice).raw("{\"tool_calls\":["), call, true);
                    close("]}", once);
                }
            }
            once = List.of();
        }
    }

    private void text(int choice, String field, String text, List<TokenLogprob> logprobs) {
        delta(choice).raw(field).content(text);
        close("\"}", logprobs);
    }

    private void close(String end, List<TokenLogprob> logprobs) {
        JsonText chunk = events.more().raw(end).raw(",\"logprobs\":");
        if (logprobs.isEmpty()) {
            chunk.raw("null");
        } else {
            Logprobs.write(chunk.raw("{\"content\":["), logprobs);
            chunk.raw("],\"refusal\":null}");
        }
        chunk.raw(",\"finish_reason\":null}").raw(suffix);
        events.end();
    }

    void end(ChoiceEnded end) throws IOException {
        introduce(end.choice());
        AnswerSplitter splitter = splitters.get(end.choice());
        pieces(end.choice(), splitter.finish(end.text()), List.of());
        delta(end.choice())
                .raw("{},\"logprobs\":null,\"finish_reason\":")
                .raw(AnswerParts.reason(end.reason(), splitter.hasCalled()))
                .raw("}")
                .raw(suffix);
        events.send();
    }

    void finish(Usage usage) throws IOException {
        if (reportsUsage) {
            JsonText chunk = events.event().raw(prefix).raw("],\"usage\":");
            AnswerParts.chatUsage(chunk, usage, splitters);
            chunk.raw("}");
            events.end();
        }
        events.event().raw("[DONE]");
        events.send();
    }

    /** The first chunk of a choice says who speaks; it leaves together with the first token. */
    private void introduce(int choice) {
        if (!hasRole[choice]) {
            hasRole[choice] = true;
            delta(choice)
                    .raw("{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}")
                    .raw(suffix);
            events.end();
        }
    }

    private JsonText delta(int choice) {
        return events.event().raw(prefix).raw("{\"index\":").number(choice).raw(",\"delta\":");
    }
}
