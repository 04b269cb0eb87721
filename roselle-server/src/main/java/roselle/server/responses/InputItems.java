package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import roselle.server.prompt.AssistantTurn;
import tools.jackson.databind.JsonNode;

/**
 * Reads {@code input}: a text, or items that become messages of a chat. What the model thought, said and called in one turn are
 * several items, but one message.
 */
final class InputItems {
    private static final int MOST = 10_000;
    private static final int MAX_LOGPROBS = 1_000_000;
    private static final Set<String> STATUSES = Set.of("in_progress", "completed", "incomplete");

    private final List<ChatMessage> messages = new ArrayList<>();
    private AssistantTurn turn = new AssistantTurn();

    private InputItems() {}

    static List<ChatMessage> read(JsonFields fields) {
        JsonNode input = fields.any("input").orElseThrow(() -> fields.missing("input"));
        if (input.isString()) {
            return List.of(ChatMessage.user(input.stringValue()));
        }
        if (!input.isArray()) {
            throw JsonFields.wrongType("input", input, "a string or an array of items");
        }
        var items = new InputItems();
        for (JsonFields item : fields.objects("input", MOST)) {
            items.add(item);
        }
        items.endTurn();
        if (items.messages.isEmpty()) {
            throw ApiException.invalid("input", "input says nothing: it must have at least one item that does");
        }
        return items.messages;
    }

    private void add(JsonFields item) {
        item.string("id"); // of an item that came from an earlier response
        status(item);
        String type = item.string("type").orElse("message");
        switch (type) {
            case "message" -> spoken(item);
            case "reasoning" -> thoughts(item);
            case "function_call" -> call(item);
            case "function_call_output" -> result(item);
            default ->
                throw ApiException.invalid(
                        item.path("type"),
                        item.path("type") + " is not known: it must be message, reasoning, function_call or"
                                + " function_call_output");
        }
        item.refuseOthers();
    }

    private void endTurn() {
        if (!turn.isEmpty()) {
            messages.add(turn.message());
            turn = new AssistantTurn();
        }
    }

    private void add(ChatMessage message) {
        endTurn();
        messages.add(message);
    }

    private static void status(JsonFields item) {
        item.string("status").filter(status -> !STATUSES.contains(status)).ifPresent(status -> {
            throw ApiException.invalid(
                    item.path("status"), item.path("status") + " must be in_progress, completed or incomplete");
        });
    }

    private void spoken(JsonFields item) {
        String role = item.requiredString("role");
        item.requireDefault("phase", "an answer has one phase here, so leave it out");
        switch (role) {
            case "assistant" -> {
                if (!turn.isOnlyThoughts()) {
                    endTurn();
                }
                turn.say(content(item));
            }
            case "user", "system" -> add(ChatMessage.of(role, content(item)));
            case "developer" -> add(ChatMessage.system(content(item)));
            default ->
                throw ApiException.invalid(
                        item.path("role"), item.path("role") + " must be user, assistant, system or developer");
        }
    }

    private static String content(JsonFields item) {
        return text(item, "content", Set.of("input_text", "output_text"));
    }

    /** A text, or parts that are texts. */
    private static String text(JsonFields item, String name, Set<String> types) {
        JsonNode given = item.any(name).orElseThrow(() -> item.missing(name));
        if (given.isString()) {
            return given.stringValue();
        }
        var text = new StringBuilder();
        for (JsonFields part : item.objects(name, MOST)) {
            String type = part.requiredString("type");
            if (!types.contains(type)) {
                throw ApiException.invalid(
                        part.path("type"),
                        part.path("type") + " is not text: this server takes "
                                + String.join(" and ", new TreeSet<>(types)) + " here alone");
            }
            text.append(part.requiredString("text"));
            if (type.equals("output_text")) { // as this server wrote it
                part.accept("parsed"); // what a client made of it
                part.objects("annotations", MOST);
                part.objects("logprobs", MAX_LOGPROBS);
            }
            part.refuseOthers();
        }
        return text.toString();
    }

    /** Thoughts of an earlier answer, for chat templates that repeat them. */
    private void thoughts(JsonFields item) {
        if (!turn.isOnlyThoughts()) {
            endTurn();
        }
        Optional<String> encoded = item.string("encrypted_content").filter(word -> !word.isEmpty());
        item.requireDefault("summary", "thoughts are not summed up here, so it must be empty", List.of());
        if (item.has("content")) {
            turn.think(text(item, "content", Set.of("reasoning_text")));
        } else {
            encoded.ifPresent(word -> turn.think(decoded(item, word)));
        }
    }

    private static String decoded(JsonFields item, String word) {
        try {
            return OutputItem.Thoughts.decoded(word);
        } catch (IllegalArgumentException _) {
            throw ApiException.invalid(
                    item.path("encrypted_content"),
                    item.path("encrypted_content")
                            + " is not what this server sent: thoughts of others cannot be read");
        }
    }

    /** A call that the model made, in the form that chat templates read. */
    private void call(JsonFields item) {
        item.requireDefault("namespace", "functions have no namespaces here");
        item.requireDefault("caller", "the model alone calls functions here");
        item.accept("parsed_arguments"); // what a client made of the text
        Object arguments = parsed(item, item.requiredString("arguments"));
        turn.call(item.requiredString("call_id"), item.requiredString("name"), arguments);
    }

    private static Object parsed(JsonFields item, String arguments) {
        try {
            return Json.object(arguments.getBytes(StandardCharsets.UTF_8)).plain();
        } catch (ApiException _) {
            throw ApiException.invalid(
                    item.path("arguments"), item.path("arguments") + " is not the text of a JSON object");
        }
    }

    private void result(JsonFields item) {
        item.requireDefault("namespace", "functions have no namespaces here");
        item.requireDefault("caller", "the model alone calls functions here");
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("content", text(item, "output", Set.of("input_text")));
        result.put("tool_call_id", item.requiredString("call_id"));
        item.string("name").ifPresent(name -> result.put("name", name));
        add(new ChatMessage("tool", result));
    }
}
