package roselle.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
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

/** An answer as its events come in; whole at their end. */
final class ChatAnswer {
    private final String modelName;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder thoughts = new StringBuilder();
    private final List<ToolExecutionRequest> calls = new ArrayList<>();
    private @Nullable Finished end;

    ChatAnswer(String modelName) {
        this.modelName = modelName;
    }

    void take(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> text.append(token.text());
            case Reasoning thought -> thoughts.append(thought.text());
            case ToolCall call -> calls.add(request(call));
            case ChoiceEnded choice -> text.append(choice.text());
            case Finished finished -> end = finished;
            case Failed failed -> throw Failures.of(failed);
            case PromptScored _, ToolCallStarted _, ToolCallDelta _ -> {}
        }
    }

    static ToolExecutionRequest request(ToolCall call) {
        return ToolExecutionRequest.builder()
                .id(call.id())
                .name(call.name())
                .arguments(call.arguments().isEmpty() ? "{}" : call.arguments())
                .build();
    }

    ChatResponse response() {
        if (end == null) {
            throw new IllegalStateException("the answer has not ended");
        }
        var usage = end.usage();
        return ChatResponse.builder()
                .aiMessage(message())
                .metadata(ChatResponseMetadata.builder()
                        .id(UUID.randomUUID().toString())
                        .modelName(modelName)
                        .tokenUsage(new TokenUsage(usage.promptTokens(), usage.completionTokens()))
                        .finishReason(reason(end.reasons().getFirst()))
                        .build())
                .build();
    }

    private AiMessage message() {
        var message = AiMessage.builder();
        if (!text.isEmpty() || calls.isEmpty()) {
            message.text(text.toString());
        }
        if (!thoughts.isEmpty()) {
            message.thinking(thoughts.toString());
        }
        return message.toolExecutionRequests(calls).build();
    }

    private FinishReason reason(roselle.api.FinishReason reason) {
        return switch (reason) {
            case STOP -> calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_EXECUTION;
            case LENGTH -> FinishReason.LENGTH;
            case CANCELLED -> FinishReason.OTHER;
        };
    }
}
