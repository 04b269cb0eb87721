package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads {@code input}: a text, or items that become messages of a chat. */
final class InputItems {
    private static final int MOST = 10_000;
    private static final Set<String> STATUSES = Set.of("in_progress", "completed", "incomplete");

    private InputItems() {}

    static List<ChatMessage> read(JsonFields fields) {
        JsonNode input = fields.any("input").orElseThrow(() -> fields.missing("input"));
        if (input.isString()) {
            return List.of(ChatMessage.user(input.stringValue()));
        }
        if (!input.isArray()) {
            throw JsonFields.wrongType("input", input, "a string or an array of items");
        }
        var messages = new ArrayList<ChatMessage>();
        for (JsonFields item : fields.objects("input", MOST)) {
            messages.add(message(item));
        }
        if (messages.isEmpty()) {
            throw ApiException.invalid("input", "input is an empty array: it must have at least one item");
        }
        return messages;
    }

    private static ChatMessage message(JsonFields item) {
        item.string("id"); // of an item that came from an earlier response
        status(item);
        String type = item.string("type").orElse("message");
        ChatMessage message = switch (type) {
            case "message" -> spoken(item);
            case "function_call" -> call(item);
            case "function_call_output" -> result(item);
            default ->
                throw ApiException.invalid(
                        item.path("type"),
                        item.path("type") + " is not known: it must be message, function_call or function_call_output");
        };
        item.refuseOthers();
        return message;
    }

    private static void status(JsonFields item) {
        item.string("status").filter(status -> !STATUSES.contains(status)).ifPresent(status -> {
            throw ApiException.invalid(
                    item.path("status"), item.path("status") + " must be in_progress, completed or incomplete");
        });
    }

    private static ChatMessage spoken(JsonFields item) {
        String role = item.requiredString("role");
        return switch (role) {
            case "user", "assistant", "system" -> ChatMessage.of(role, content(item));
            case "developer" -> ChatMessage.system(content(item));
            default ->
                throw ApiException.invalid(
                        item.path("role"), item.path("role") + " must be user, assistant, system or developer");
        };
    }

    private static String content(JsonFields item) {
        JsonNode content = item.any("content").orElseThrow(() -> item.missing("content"));
        if (content.isString()) {
            return content.stringValue();
        }
        var text = new StringBuilder();
        for (JsonFields part : item.objects("content", MOST)) {
            String type = part.requiredString("type");
            if (!type.equals("input_text") && !type.equals("output_text")) {
                throw ApiException.invalid(
                        part.path("type"),
                        part.path("type") + " is not text: this server takes input_text and output_text alone");
            }
            text.append(part.requiredString("text"));
            part.accept("annotations", "logprobs");
            part.refuseOthers();
        }
        return text.toString();
    }

    /** A call that the model made, in the form that chat templates read. */
    private static ChatMessage call(JsonFields item) {
        String arguments = item.requiredString("arguments");
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", item.requiredString("name"));
        function.put("arguments", parsed(item, arguments));
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", item.requiredString("call_id"));
        call.put("type", "function");
        call.put("function", function);
        return new ChatMessage("assistant", Map.of("content", "", "tool_calls", List.of(call)));
    }

    private static Object parsed(JsonFields item, String arguments) {
        try {
            return Json.object(arguments.getBytes(StandardCharsets.UTF_8)).plain();
        } catch (ApiException _) {
            throw ApiException.invalid(
                    item.path("arguments"), item.path("arguments") + " is not the text of a JSON object");
        }
    }

    private static ChatMessage result(JsonFields item) {
        return new ChatMessage(
                "tool",
                Map.of("content", item.requiredString("output"), "tool_call_id", item.requiredString("call_id")));
    }
}
