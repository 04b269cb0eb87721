package roselle.server.openai.common;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads the conversation of a chat completion. */
final class ChatMessages {
    private static final Set<String> ROLES = Set.of("system", "developer", "user", "assistant", "tool");
    private static final int MOST = 10_000;

    private ChatMessages() {}

    static List<ChatMessage> read(JsonFields fields) {
        if (!fields.has("messages")) {
            throw fields.missing("messages");
        }
        var messages = new ArrayList<ChatMessage>();
        for (JsonFields message : fields.objects("messages", MOST)) {
            messages.add(message(message));
        }
        if (messages.isEmpty()) {
            throw ApiException.invalid("messages", "messages is empty: a conversation has at least one message");
        }
        return messages;
    }

    private static ChatMessage message(JsonFields message) {
        String role = role(message);
        Map<String, Object> content = new LinkedHashMap<>();
        boolean calls = role.equals("assistant") && message.has("tool_calls");
        if (message.has("content")) {
            content.put("content", content(message));
        } else if (calls) {
            content.put("content", "");
        } else {
            throw message.missing("content");
        }
        message.string("name").ifPresent(name -> content.put("name", name));
        switch (role) {
            case "assistant" -> assistant(message, content);
            case "tool" -> content.put("tool_call_id", message.requiredString("tool_call_id"));
            default -> {}
        }
        message.refuseOthers();
        return new ChatMessage(role, content);
    }

    /** The newer name of a system message is one for templates too, which know the older. */
    private static String role(JsonFields message) {
        String role = message.requiredString("role");
        if (!ROLES.contains(role)) {
            throw ApiException.invalid(
                    message.path("role"),
                    message.path("role") + " is not one of system, developer, user, assistant, tool");
        }
        return role.equals("developer") ? "system" : role;
    }

    /** LiteLLM puts what it found in an answer beside the fields that it knows, and sends it back with the conversation. */
    private static void requireNothing(JsonFields kept) {
        kept.requireDefault("refusal", "this server tells none here, so it must be null");
        kept.refuseOthers();
    }

    private static void assistant(JsonFields message, Map<String, Object> content) {
        message.string("reasoning_content").ifPresent(text -> content.put("reasoning_content", text));
        message.requireDefault("refusal", "no chat template reads it: what the assistant said is content");
        message.accept("parsed"); // what a client made of the content
        message.requireDefault("annotations", "this server annotates nothing, so it must be empty", List.of());
        message.requireDefault("audio", "this server takes text alone");
        message.requireDefault("function_call", "use tool_calls");
        message.object("provider_specific_fields").ifPresent(ChatMessages::requireNothing);
        var calls = new ArrayList<Map<String, Object>>();
        for (JsonFields call : message.objects("tool_calls", MOST)) {
            calls.add(ToolCalls.forTemplate(call));
        }
        if (!calls.isEmpty()) {
            content.put("tool_calls", calls);
        }
    }

    private static String content(JsonFields message) {
        JsonNode content = message.any("content").orElseThrow();
        if (content.isString()) {
            return content.stringValue();
        }
        var text = new StringBuilder();
        for (JsonFields part : message.objects("content", MOST)) {
            String type = part.requiredString("type");
            if (!type.equals("text")) {
                throw ApiException.invalid(
                        part.path("type"),
                        part.path("type") + " is " + type + ": this server takes text alone, so it must be text");
            }
            text.append(part.requiredString("text"));
            part.refuseOthers();
        }
        return text.toString();
    }
}
