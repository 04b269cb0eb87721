package roselle.server.openai;

import java.io.IOException;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.Usage;
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

    ChatStream(SseWriter events, AnswerHead head, ChatCall call) {
        this.events = events;
        reportsUsage = call.reportsUsage();
        prefix = head.write(new JsonText(), "chat.completion.chunk")
                .raw("\"choices\":[")
                .toBytes();
        suffix = reportsUsage ? "],\"usage\":null}" : "]}";
        hasRole = new boolean[call.request().output().choices()];
    }

    void token(TokenGenerated token) throws IOException {
        introduce(token.choice());
        JsonText chunk = delta(token.choice())
                .raw("{\"content\":\"")
                .content(token.text())
                .raw("\"},\"logprobs\":");
        if (token.logprobs().isEmpty()) {
            chunk.raw("null");
        } else {
            AnswerParts.chatLogprob(chunk.raw("{\"content\":["), token.logprobs());
            chunk.raw("],\"refusal\":null}");
        }
        chunk.raw(",\"finish_reason\":null}").raw(suffix);
        events.send();
    }

    void end(ChoiceEnded end) throws IOException {
        introduce(end.choice());
        JsonText chunk = delta(end.choice());
        if (end.text().isEmpty()) {
            chunk.raw("{}");
        } else {
            chunk.raw("{\"content\":\"").content(end.text()).raw("\"}");
        }
        chunk.raw(",\"logprobs\":null,\"finish_reason\":").raw(AnswerParts.reason(end.reason()));
        chunk.raw("}").raw(suffix);
        events.send();
    }

    void finish(Usage usage) throws IOException {
        if (reportsUsage) {
            JsonText chunk = events.event().raw(prefix).raw("],\"usage\":");
            AnswerParts.usage(chunk, usage);
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
