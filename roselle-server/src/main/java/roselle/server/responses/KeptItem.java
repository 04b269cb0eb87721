package roselle.server.responses;

import java.util.List;
import roselle.server.http.RequestIds;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** An item that a response was asked with, as it is told of later: with an id, a status, and texts as parts. */
record KeptItem(String id, String json) {
    /** The items of an input that has been read. */
    static List<KeptItem> of(JsonNode input) {
        if (input.isString()) {
            ObjectNode message = JsonNodeFactory.instance.objectNode().put("role", "user");
            message.set("content", input);
            return List.of(completed(message));
        }
        return input.valueStream()
                .map(item -> completed(item.deepCopy().asObject()))
                .toList();
    }

    private static KeptItem completed(ObjectNode item) {
        String type = text(item, "type", "message");
        String id = text(item, "id", "");
        if (id.isEmpty()) {
            id = RequestIds.next(prefix(type));
        }
        item.put("id", id).put("type", type).put("status", text(item, "status", "completed"));
        JsonNode content = item.path("content");
        if (type.equals("message") && content.isString()) {
            boolean isAnswer = item.path("role").stringValue().equals("assistant");
            ObjectNode part = item.putArray("content").addObject();
            part.put("type", isAnswer ? "output_text" : "input_text").put("text", content.stringValue());
            if (isAnswer) {
                part.putArray("annotations");
            }
        }
        return new KeptItem(id, item.toString());
    }

    private static String text(ObjectNode item, String name, String otherwise) {
        JsonNode value = item.path(name);
        return value.isString() ? value.stringValue() : otherwise;
    }

    private static String prefix(String type) {
        return switch (type) {
            case "reasoning" -> "rs_";
            case "function_call" -> "fc_";
            case "function_call_output" -> "fco_";
            default -> "msg_";
        };
    }
}
