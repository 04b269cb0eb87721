package roselle.server.prompt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;

/** What a model thought, said and called in one turn: several items here, one message for chat templates. */
public final class AssistantTurn {
    private final StringBuilder thoughts = new StringBuilder();
    private final StringBuilder text = new StringBuilder();
    private final List<Map<String, Object>> calls = new ArrayList<>();
    private boolean isEmpty = true;

    public boolean isEmpty() {
        return isEmpty;
    }

    /** Whether only thoughts were added: they come before what is said and called. */
    public boolean isOnlyThoughts() {
        return text.isEmpty() && calls.isEmpty();
    }

    public void think(String piece) {
        isEmpty = false;
        thoughts.append(piece);
    }

    public void say(String piece) {
        isEmpty = false;
        text.append(piece);
    }

    /** Adds a call; the arguments as an object, which is how templates read them, or as a text that is none. */
    public void call(String id, String name, Object arguments) {
        isEmpty = false;
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", name);
        function.put("arguments", arguments);
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", id);
        call.put("type", "function");
        call.put("function", function);
        calls.add(call);
    }

    public ChatMessage message() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", text.toString());
        if (!thoughts.isEmpty()) {
            fields.put("reasoning_content", thoughts.toString());
        }
        if (!calls.isEmpty()) {
            fields.put("tool_calls", calls);
        }
        return new ChatMessage("assistant", fields);
    }
}
