package roselle.server.anthropic;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.AssistantTurn;
import tools.jackson.databind.JsonNode;

/**
 * Reads {@code system} and {@code messages} into the messages of a chat template.
 *
 * <p>Messages of one role that follow each other are one turn, as in Anthropic's API. Results of tools are messages of their own
 * for templates. The texts of a user's turn, and those of the system's, stand apart by an empty line; those of an assistant follow
 * each other as the model wrote them.
 */
final class ContentBlocks {
    private static final int MOST = 100_000;
    private static final String APART = "\n\n";

    private final List<ChatMessage> messages = new ArrayList<>();
    private final Map<String, String> toolNames = new HashMap<>(); // by the id of a call
    private List<String> said = new ArrayList<>(); // by the user, in the turn that is open
    private AssistantTurn turn = new AssistantTurn();
    private boolean callsLast;

    private ContentBlocks() {}

    static List<ChatMessage> messages(JsonFields fields) {
        var read = new ContentBlocks();
        if (fields.has("system")) {
            read.messages.add(ChatMessage.system(texts(fields, "system")));
        }
        if (!fields.has("messages")) {
            throw fields.missing("messages");
        }
        List<JsonFields> given = fields.objects("messages", MOST);
        if (given.isEmpty()) {
            throw ApiException.invalid("messages", "messages is empty: a conversation has at least one message");
        }
        given.forEach(read::add);
        read.endTurns();
        if (read.messages.stream().allMatch(message -> message.role().equals("system"))) {
            throw ApiException.invalid("messages", "messages says nothing: it must have at least one block that does");
        }
        if (read.callsLast) {
            throw ApiException.invalid("messages", "messages ends with a call of a tool: a tool_result must follow it");
        }
        return read.messages;
    }

    private void add(JsonFields message) {
        String role = message.requiredString("role");
        if (!message.has("content")) {
            throw message.missing("content");
        }
        callsLast = false;
        switch (role) {
            case "user" -> user(message);
            case "assistant" -> assistant(message);
            case "system" -> {
                endTurns();
                messages.add(ChatMessage.system(texts(message, "content")));
            }
            default ->
                throw ApiException.invalid(
                        message.path("role"), message.path("role") + " must be user, assistant or system");
        }
        message.refuseOthers();
    }

    private void endTurns() {
        if (!said.isEmpty()) {
            messages.add(ChatMessage.user(String.join(APART, said)));
            said = new ArrayList<>();
        }
        if (!turn.isEmpty()) {
            messages.add(turn.message());
            turn = new AssistantTurn();
        }
    }

    private void user(JsonFields message) {
        if (!turn.isEmpty()) {
            endTurns();
        }
        if (isText(message, "content")) {
            said.add(message.requiredString("content"));
            return;
        }
        for (JsonFields block : message.objects("content", MOST)) {
            String type = block.requiredString("type");
            switch (type) {
                case "text" -> said.add(text(block));
                case "tool_result" -> result(block);
                default -> throw unknown(block, type, "text or tool_result");
            }
        }
    }

    private void assistant(JsonFields message) {
        if (!said.isEmpty()) {
            endTurns();
        }
        if (isText(message, "content")) {
            turn.say(message.requiredString("content"));
            return;
        }
        for (JsonFields block : message.objects("content", MOST)) {
            String type = block.requiredString("type");
            switch (type) {
                case "text" -> turn.say(text(block));
                case "thinking" -> thoughts(block);
                case "tool_use" -> call(block);
                default -> throw unknown(block, type, "text, thinking or tool_use");
            }
        }
    }

    private static ApiException unknown(JsonFields block, String type, String known) {
        return ApiException.invalid(
                block.path("type"),
                block.path("type") + " is " + type + ": this server takes text alone here, so it must be " + known);
    }

    private void thoughts(JsonFields block) {
        String thinking = block.requiredString("thinking");
        if (!AnswerBlocks.signature(thinking).equals(block.requiredString("signature"))) {
            throw ApiException.invalid(
                    block.path("signature"),
                    block.path("signature")
                            + " is not of these thoughts: send the block as this server wrote it, or leave it out");
        }
        block.refuseOthers();
        turn.think(thinking);
    }

    private void call(JsonFields block) {
        String id = block.requiredString("id");
        String name = block.requiredString("name");
        JsonFields input = block.object("input").orElseThrow(() -> block.missing("input"));
        turn.call(id, name, input.plain());
        toolNames.put(id, name);
        callsLast = true;
        CacheMarks.accept(block);
        block.requireDefault("caller", "the model alone calls tools", Map.of("type", "direct"));
        block.requireDefault("toolset_name", "there are no toolsets here");
        block.refuseOthers();
    }

    private void result(JsonFields block) {
        endTurns();
        String id = block.requiredString("tool_use_id");
        String name = toolNames.get(id);
        if (name == null) {
            throw ApiException.invalid(
                    block.path("tool_use_id"), block.path("tool_use_id") + " is not of a tool_use before it");
        }
        String text = block.has("content") ? texts(block, "content") : "";
        Map<String, Object> result = new LinkedHashMap<>();
        result.put(
                "content", block.bool("is_error", false) ? "Error: " + text : text); // templates have no field for it
        result.put("tool_call_id", id);
        result.put("name", name);
        CacheMarks.accept(block);
        block.requireDefault("toolset_name", "there are no toolsets here");
        block.refuseOthers();
        messages.add(new ChatMessage("tool", result));
    }

    private static boolean isText(JsonFields fields, String name) {
        return fields.any(name).map(JsonNode::isString).orElse(false);
    }

    /** A text, or blocks that are texts. */
    private static String texts(JsonFields fields, String name) {
        if (isText(fields, name)) {
            return fields.requiredString(name);
        }
        var texts = new ArrayList<String>();
        for (JsonFields block : fields.objects(name, MOST)) {
            String type = block.requiredString("type");
            if (!type.equals("text")) {
                throw unknown(block, type, "text");
            }
            texts.add(text(block));
        }
        return String.join(APART, texts);
    }

    private static String text(JsonFields block) {
        String text = block.requiredString("text");
        CacheMarks.accept(block);
        block.requireDefault("citations", "this server cites nothing", List.of());
        block.refuseOthers();
        return text;
    }
}
