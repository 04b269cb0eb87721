package roselle.server.openai;

import java.io.IOException;
import java.util.stream.Stream;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.Usage;
import roselle.server.http.EventStream;
import roselle.server.http.JsonWriter;

/** The events of a completion as a stream: one for each token, and before them the prompt, where it is echoed. */
final class CompletionStream {
    private final EventStream events;
    private final CompletionCall call;
    private final JsonWriter.Opening opening;
    private final LogprobLists[] logprobs;
    private final boolean[] isEchoed;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    CompletionStream(EventStream events, AnswerHead head, CompletionCall call) {
        this.events = events;
        this.call = call;
        opening = head.opening("text_completion");
        int choices = call.choices() * call.requests().size();
        logprobs = Stream.generate(LogprobLists::new).limit(choices).toArray(LogprobLists[]::new);
        isEchoed = new boolean[choices];
    }

    /** Writes what an event of one of the prompts tells. */
    void write(int prompt, GenerationEvent event) throws IOException {
        switch (event) {
            case PromptScored scored -> {
                for (int choice = 0; choice < call.choices(); choice++) {
                    AnswerParts.scored(
                            logprobs[index(prompt, choice)],
                            scored,
                            call.model().engine().tokenizer());
                }
            }
            case TokenGenerated token -> token(prompt, token);
            case ChoiceEnded end -> end(prompt, end);
            case Finished finished -> usage = AnswerParts.sum(usage, finished.usage(), call.onlyPrompt());
            case Reasoning _,
                    ToolCallStarted _,
                    ToolCallDelta _,
                    ToolCall _,
                    Failed _ -> {} // prompts are no chats; failures are not handed out
        }
    }

    private int index(int prompt, int choice) {
        return prompt * call.choices() + choice;
    }

    private void token(int prompt, TokenGenerated token) throws IOException {
        int index = index(prompt, token.choice());
        echo(prompt, index);
        if (call.onlyPrompt()) {
            return;
        }
        if (call.hasLogprobs()) {
            logprobs[index].add(token.logprobs().getFirst().text(), token.logprobs());
        }
        chunk(index, token.text(), call.hasLogprobs(), "");
        events.send();
    }

    private void end(int prompt, ChoiceEnded end) throws IOException {
        int index = index(prompt, end.choice());
        echo(prompt, index);
        String text = call.onlyPrompt() ? "" : end.text();
        chunk(index, text, false, AnswerParts.reason(call.onlyPrompt() ? FinishReason.LENGTH : end.reason()));
        events.send();
    }

    private void echo(int prompt, int index) {
        if (!isEchoed[index] && !call.echoes().isEmpty()) {
            isEchoed[index] = true;
            chunk(index, call.echoes().get(prompt), call.hasLogprobs(), "");
        }
    }

    /** Writes a chunk; {@code reason} is empty while the choice goes on. */
    private void chunk(int index, String text, boolean hasLogprobs, String reason) {
        JsonWriter chunk =
                events.event().begin(opening).object().field("index", index).field("text", text);
        if (hasLogprobs) {
            logprobs[index].write(chunk.name("logprobs"));
            logprobs[index].clear();
        } else {
            chunk.nullField("logprobs");
        }
        chunk.fieldOrNull("finish_reason", reason).endObject().endArray();
        if (call.reportsUsage()) {
            chunk.nullField("usage");
        }
        chunk.endObject();
        events.end();
    }

    /** All prompts have been answered. */
    void finish() throws IOException {
        if (call.reportsUsage()) {
            JsonWriter chunk = events.event().begin(opening).endArray();
            AnswerParts.usage(chunk.name("usage"), usage);
            chunk.endObject();
            events.end();
        }
        events.finish();
    }
}
