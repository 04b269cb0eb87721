package roselle.cli.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import roselle.api.ChatMessage;
import roselle.api.InvalidRequestException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads what {@code /save} wrote, and what programs write in the same form: an array of messages with role and content. */
final class SavedConversation {
    private SavedConversation() {}

    /** @throws InvalidRequestException if the text is not of that form; the sentence begins with {@code name} */
    static List<ChatMessage> read(String name, String text) {
        var messages = new ArrayList<ChatMessage>();
        JsonNode root = tree(name, text);
        if (!root.isArray()) {
            throw malformed(name, "it is no array of messages");
        }
        for (JsonNode each : root) {
            if (!each.path("role").isString() || !each.path("content").isString()) {
                throw malformed(name, "message " + messages.size() + " has no role and content that are texts");
            }
            var fields = new LinkedHashMap<String, Object>();
            each.properties().forEach(field -> fields.put(field.getKey(), value(field.getValue())));
            messages.add(new ChatMessage(each.path("role").stringValue(), fields));
        }
        return messages;
    }

    private static Object value(JsonNode node) {
        return JsonMapper.shared().convertValue(node, Object.class);
    }

    private static JsonNode tree(String name, String text) {
        try {
            return JsonMapper.shared().readTree(text);
        } catch (JacksonException notJson) {
            throw malformed(name, "it is not JSON");
        }
    }

    private static InvalidRequestException malformed(String name, String why) {
        return new InvalidRequestException(name + " is no saved conversation: " + why);
    }
}
