package roselle.server.created;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.AssistantTurn;
import roselle.server.prompt.FunctionTool;

/** Reads {@code messages} and {@code tools} of a chat; what came without an id of a call gets that of the call it answers. */
public final class TurnFields {
    private static final int MOST = 10_000;
    private static final int MAX_TOOLS = 1024;

    private final List<ChatMessage> messages = new ArrayList<>();
    private final Deque<String> unanswered = new ArrayDeque<>(); // ids of calls
    private int calls;

    private TurnFields() {}

    public static List<ChatMessage> messages(JsonFields fields) {
        var read = new TurnFields();
        fields.objects("messages", MOST).forEach(read::add);
        return read.messages;
    }

    public static List<Map<String, Object>> tools(JsonFields fields) {
        return fields.objects("tools", MAX_TOOLS).stream().map(TurnFields::tool).toList();
    }

    private static Map<String, Object> tool(JsonFields tool) {
        tool.requireDefault("type", "a tool is a function here", "function");
        JsonFields function = tool.object("function").orElseThrow(() -> tool.missing("function"));
        Map<String, Object> read = FunctionTool.function(function, "parameters");
        read.computeIfPresent("parameters", (_, schema) -> schema instanceof Map<?, ?> map ? ordered(map) : schema);
        function.refuseOthers();
        tool.bool("mcptool", false); // ollama4j's note to itself: where it runs the tool
        tool.refuseOthers();
        return FunctionTool.of(read);
    }

    /** A schema in the order that models were trained with; Ollama's clients have another, whatever the caller wrote. */
    private static Map<Object, Object> ordered(Map<?, ?> schema) {
        Map<Object, Object> ordered = new LinkedHashMap<>();
        for (String name : List.of("type", "properties", "required")) {
            if (schema.containsKey(name)) {
                ordered.put(name, schema.get(name));
            }
        }
        schema.forEach(ordered::putIfAbsent);
        return ordered;
    }

    private void add(JsonFields message) {
        String role = message.requiredString("role");
        String content = message.string("content").orElse("");
        refuseImages(message);
        switch (role) {
            case "system", "user" -> {
                requireNothingOfAssistants(message);
                messages.add(ChatMessage.of(role, content));
            }
            case "assistant" -> messages.add(assistant(message, content));
            case "tool" -> messages.add(result(message, content));
            default ->
                throw ApiException.invalid(
                        message.path("role"), message.path("role") + " must be system, user, assistant or tool");
        }
        message.refuseOthers();
    }

    /** Clients of one class for all messages send what an assistant alone says, empty. */
    private static void requireNothingOfAssistants(JsonFields message) {
        message.requireDefault("thinking", "an assistant alone thinks");
        message.requireDefault("tool_calls", "an assistant alone calls tools", List.of());
    }

    public static void refuseImages(JsonFields fields) {
        fields.requireDefault("images", "this server takes text alone", List.of());
    }

    private ChatMessage assistant(JsonFields message, String content) {
        var turn = new AssistantTurn();
        message.string("thinking").ifPresent(turn::think);
        turn.say(content);
        for (JsonFields call : message.objects("tool_calls", MOST)) {
            String id = call.string("id").orElse("call_" + calls);
            call.requireDefault("type", "a tool is a function here", "function");
            JsonFields function = call.object("function").orElseThrow(() -> call.missing("function"));
            function.integer("index", 0, MOST); // as answers tell it
            JsonFields arguments = function.object("arguments").orElseThrow(() -> function.missing("arguments"));
            turn.call(id, function.requiredString("name"), arguments.plain());
            unanswered.add(id);
            calls++;
            function.refuseOthers();
            call.refuseOthers();
        }
        return turn.message();
    }

    private ChatMessage result(JsonFields message, String content) {
        requireNothingOfAssistants(message);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("content", content);
        String next = unanswered.isEmpty() ? "" : unanswered.remove();
        result.put("tool_call_id", message.string("tool_call_id").orElse(next));
        message.string("tool_name").ifPresent(name -> result.put("name", name));
        return new ChatMessage("tool", result);
    }
}
