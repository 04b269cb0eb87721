package roselle.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
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

/** An answer as its events come in: in pieces, and whole at its end. */
final class ChatAnswer {
    /** Where Spring AI looks for whether a piece is a thought. */
    private static final String IS_THOUGHT = "isThought";

    private static final String THOUGHTS = "reasoningContent";

    private final String id = UUID.randomUUID().toString();
    private final String modelName;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder thoughts = new StringBuilder();
    private final List<AssistantMessage.ToolCall> calls = new ArrayList<>();
    private @Nullable Finished finished;

    ChatAnswer(String modelName) {
        this.modelName = modelName;
    }

    void take(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> text.append(token.text());
            case Reasoning thought -> thoughts.append(thought.text());
            case ToolCall call -> calls.add(call(call));
            case ChoiceEnded choice -> text.append(choice.text());
            case Finished end -> finished = end;
            case Failed failed -> throw failed.exception();
            case PromptScored _, ToolCallStarted _, ToolCallDelta _ -> {}
        }
    }

    private static AssistantMessage.ToolCall call(ToolCall call) {
        return new AssistantMessage.ToolCall(
                call.id(), "function", call.name(), call.arguments().isEmpty() ? "{}" : call.arguments());
    }

    /** What an event adds to a stream; empty where it adds no text. */
    Optional<ChatResponse> piece(GenerationEvent event) {
        return switch (event) {
            case TokenGenerated token when !token.text().isEmpty() -> Optional.of(piece(token.text(), false));
            case ChoiceEnded end when !end.text().isEmpty() -> Optional.of(piece(end.text(), false));
            case Reasoning thought -> Optional.of(piece(thought.text(), true));
            default -> Optional.empty();
        };
    }

    private ChatResponse piece(String piece, boolean isThought) {
        var message = AssistantMessage.builder()
                .content(piece)
                .properties(Map.of(IS_THOUGHT, isThought))
                .build();
        var metadata = ChatResponseMetadata.builder().id(id).model(modelName).build();
        return new ChatResponse(List.of(new Generation(message)), metadata);
    }

    /** The whole answer. */
    ChatResponse whole() {
        return response(text.toString(), thoughts.isEmpty() ? Map.of() : Map.of(THOUGHTS, thoughts.toString()));
    }

    /** What a stream ends with: calls, reason and usage. */
    ChatResponse end() {
        return response("", Map.of());
    }

    private ChatResponse response(String content, Map<String, Object> properties) {
        if (finished == null) {
            throw new IllegalStateException("the answer has not ended");
        }
        var usage = finished.usage();
        var message = AssistantMessage.builder()
                .content(content)
                .properties(properties)
                .toolCalls(calls)
                .build();
        var reason = ChatGenerationMetadata.builder()
                .finishReason(reason(finished.reasons().getFirst()))
                .build();
        var metadata = ChatResponseMetadata.builder()
                .id(id)
                .model(modelName)
                .usage(new DefaultUsage(usage.promptTokens(), usage.completionTokens()))
                .build();
        return new ChatResponse(List.of(new Generation(message, reason)), metadata);
    }

    private String reason(FinishReason reason) {
        return reason == FinishReason.STOP && !calls.isEmpty() ? "TOOL_CALLS" : reason.name();
    }
}
