package roselle.cli.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import roselle.api.ChatMessage;
import roselle.api.GenerationEvent.ToolCall;
import roselle.mcp.McpTools;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The turns of a conversation that are a model's and its tools': calls are asked about, made, and told to the model. */
final class ToolTurns {
    /** Answers with calls, one after the other, before the model is not asked any more. */
    private static final int MOST = 20;

    private static final int SHOWN_CHARACTERS = 500;

    private final McpTools tools;
    private final Predicate<ToolCall> consent;
    private final Consumer<String> out;
    private int turns;

    /** @param consent whether a call may be made */
    ToolTurns(McpTools tools, Predicate<ToolCall> consent, Consumer<String> out) {
        this.tools = tools;
        this.consent = consent;
        this.out = out;
    }

    /** Makes the calls of an answer, and adds it and their results to the conversation; returns whether the model goes on. */
    boolean follow(HeardAnswer answer, List<ChatMessage> messages) {
        if (answer.calls().isEmpty()) {
            return false;
        }
        if (++turns > MOST) {
            out.accept("--- " + MOST + " answers have called tools: there it ends ---\n");
            return false;
        }
        messages.add(message(answer));
        for (ToolCall call : answer.calls()) {
            messages.add(new ChatMessage(
                    "tool", Map.of("content", result(call), "tool_call_id", call.id(), "name", call.name())));
        }
        return true;
    }

    private String result(ToolCall call) {
        if (!consent.test(call)) {
            return "error: the user does not want this call";
        }
        String result = tools.call(call);
        String shown = result.length() <= SHOWN_CHARACTERS ? result : result.substring(0, SHOWN_CHARACTERS) + "...";
        out.accept(shown + "\n--- end of " + call.name() + " ---\n");
        return result;
    }

    private static ChatMessage message(HeardAnswer answer) {
        var calls = new ArrayList<Map<String, Object>>();
        for (ToolCall call : answer.calls()) {
            Map<String, Object> function = new LinkedHashMap<>();
            function.put("name", call.name());
            function.put("arguments", arguments(call.arguments()));
            Map<String, Object> written = new LinkedHashMap<>();
            written.put("id", call.id());
            written.put("type", "function");
            written.put("function", function);
            calls.add(written);
        }
        return new ChatMessage("assistant", Map.of("content", answer.text(), "tool_calls", calls));
    }

    /** An object, which is how templates read arguments, or the text of what is none because the answer was cut. */
    private static Object arguments(String json) {
        try {
            return JsonMapper.shared().readValue(json, new TypeReference<Map<String, Object>>() {});
        } catch (JacksonException _) {
            return json;
        }
    }
}
