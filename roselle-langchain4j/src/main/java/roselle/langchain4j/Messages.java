package roselle.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.internal.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import roselle.api.ChatMessage;

/** Messages of LangChain4j as chat templates read them. */
final class Messages {
    private Messages() {}

    static ChatMessage of(dev.langchain4j.data.message.ChatMessage message) {
        return switch (message) {
            case SystemMessage system -> ChatMessage.system(system.text());
            case UserMessage user -> user(user);
            case AiMessage answer -> assistant(answer);
            case ToolExecutionResultMessage result -> result(result);
            case CustomMessage custom -> custom(custom);
            default ->
                throw new UnsupportedFeatureException(
                        "messages of " + message.getClass().getName() + " are not supported");
        };
    }

    private static ChatMessage user(UserMessage message) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", text(message.contents()));
        if (message.name() != null) {
            fields.put("name", message.name());
        }
        return new ChatMessage("user", fields);
    }

    private static String text(List<Content> contents) {
        var text = new StringBuilder();
        for (Content content : contents) {
            if (!(content instanceof TextContent part)) {
                throw new UnsupportedFeatureException(
                        "non-text content is not supported, and a message has one of the type "
                                + content.type().name().toLowerCase(Locale.ROOT));
            }
            text.append(text.isEmpty() ? "" : "\n").append(part.text());
        }
        return text.toString();
    }

    private static ChatMessage assistant(AiMessage message) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", message.text() == null ? "" : message.text());
        if (message.thinking() != null) {
            fields.put("reasoning_content", message.thinking());
        }
        if (message.hasToolExecutionRequests()) {
            fields.put(
                    "tool_calls",
                    message.toolExecutionRequests().stream().map(Messages::call).toList());
        }
        return new ChatMessage("assistant", fields);
    }

    private static Map<String, Object> call(ToolExecutionRequest request) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", request.name());
        function.put("arguments", arguments(request.arguments()));
        Map<String, Object> call = new LinkedHashMap<>();
        if (request.id() != null) {
            call.put("id", request.id());
        }
        call.put("type", "function");
        call.put("function", function);
        return call;
    }

    /** An object, which is how templates read arguments, or the text of what is none because the answer was cut. */
    private static Object arguments(String json) {
        try {
            Object object = Json.fromJson(json, Map.class);
            return object == null ? json : object;
        } catch (RuntimeException _) {
            return json;
        }
    }

    private static ChatMessage result(ToolExecutionResultMessage message) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", text(message.contents()));
        if (message.id() != null) {
            fields.put("tool_call_id", message.id());
        }
        if (message.toolName() != null) {
            fields.put("name", message.toolName());
        }
        return new ChatMessage("tool", fields);
    }

    /** Whatever the template reads, under the role that the message names. */
    private static ChatMessage custom(CustomMessage message) {
        if (message.attributes().get("role") instanceof String role) {
            return new ChatMessage(role, message.attributes());
        }
        throw new InvalidRequestException("a custom message has no attribute role, which chat templates ask for");
    }
}
