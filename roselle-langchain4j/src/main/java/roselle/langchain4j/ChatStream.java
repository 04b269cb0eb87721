package roselle.langchain4j;

import static dev.langchain4j.internal.InternalStreamingChatResponseHandlerUtils.onCompleteToolCall;
import static dev.langchain4j.internal.InternalStreamingChatResponseHandlerUtils.onPartialResponse;
import static dev.langchain4j.internal.InternalStreamingChatResponseHandlerUtils.onPartialThinking;
import static dev.langchain4j.internal.InternalStreamingChatResponseHandlerUtils.onPartialToolCall;

import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import org.jspecify.annotations.Nullable;
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
import roselle.engine.Generation;

/** Tells a handler of an answer's events; what the handler throws goes to its {@code onError}, and the answer goes on. */
final class ChatStream implements StreamingHandle {
    private final Generation generation;
    private final StreamingChatResponseHandler handler;
    /** Arguments that were not told yet. */
    private final StringBuilder held = new StringBuilder();

    private @Nullable ToolCallStarted call;
    private volatile boolean isCancelled;

    ChatStream(Generation generation, StreamingChatResponseHandler handler) {
        this.generation = generation;
        this.handler = handler;
    }

    void tell(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> onPartialResponse(handler, token.text(), this);
            case ChoiceEnded end -> onPartialResponse(handler, end.text(), this);
            case Reasoning thought -> onPartialThinking(handler, thought.text(), this);
            case ToolCallStarted started -> {
                held.setLength(0);
                call = started;
            }
            case ToolCallDelta delta -> hear(delta);
            case ToolCall complete -> {
                tellHeld(complete.index());
                onCompleteToolCall(handler, new CompleteToolCall(complete.index(), ChatAnswer.request(complete)));
            }
            case PromptScored _, Finished _, Failed _ -> {}
        }
    }

    /** Handlers expect that a part says something: what is blank waits for more, and so does a brace, behind which {@code {}} may end. */
    private void hear(ToolCallDelta delta) {
        held.append(delta.arguments());
        if (held.chars().anyMatch(letter -> letter != '{' && !Character.isWhitespace(letter))) {
            tellHeld(delta.index());
        }
    }

    private void tellHeld(int index) {
        if (held.isEmpty()) {
            return;
        }
        if (call == null) {
            throw new IllegalStateException("arguments before their call");
        }
        PartialToolCall part = PartialToolCall.builder()
                .index(index)
                .id(call.id())
                .name(call.name())
                .partialArguments(held.toString())
                .build();
        held.setLength(0);
        onPartialToolCall(handler, part, this);
    }

    @Override
    public void cancel() {
        isCancelled = true;
        generation.close();
    }

    @Override
    public boolean isCancelled() {
        return isCancelled;
    }
}
