package roselle.server.openai.common;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.api.Prompt;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.FunctionTool;

/**
 * Reads the fields that make up a conversation: {@code messages}, {@code tools}, {@code tool_choice},
 * {@code parallel_tool_calls}, {@code chat_template_kwargs}, {@code add_generation_prompt}, {@code continue_final_message}.
 */
public final class ChatPrompt {
    /** Fields that say something of a conversation alone. */
    public static final List<String> FIELDS = List.of(
            "messages",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "chat_template_kwargs",
            "add_generation_prompt",
            Prompt.Chat.CONTINUE);

    private static final int MAX_TOOLS = 1024;

    private ChatPrompt() {}

    /** A conversation, with what whoever made the model adds to it. */
    public static Prompt.Chat read(JsonFields fields, ServedModel model) {
        return model.defaults().in(read(fields));
    }

    private static Prompt.Chat read(JsonFields fields) {
        Map<String, Object> variables = new HashMap<>();
        fields.object("chat_template_kwargs")
                .ifPresent(given -> given.plain().forEach((name, value) -> {
                    if (value != null) {
                        variables.put(name, value);
                    }
                }));
        if (fields.has("add_generation_prompt")) {
            variables.put("add_generation_prompt", fields.bool("add_generation_prompt", true));
        }
        if (fields.bool(Prompt.Chat.CONTINUE, false)) {
            if (fields.bool("add_generation_prompt", false)) {
                throw ApiException.invalid(
                        Prompt.Chat.CONTINUE, Prompt.Chat.CONTINUE + " and add_generation_prompt exclude each other");
            }
            variables.put("add_generation_prompt", false);
            variables.put(Prompt.Chat.CONTINUE, true);
        }
        List<Map<String, Object>> tools = fields.objects("tools", MAX_TOOLS).stream()
                .map(ChatPrompt::tool)
                .toList();
        return new Prompt.Chat(ChatMessages.read(fields), tools, variables, ToolUseFields.read(fields));
    }

    private static Map<String, Object> tool(JsonFields tool) {
        String type = tool.requiredString("type");
        if (!type.equals("function")) {
            throw ApiException.invalid(tool.path("type"), tool.path("type") + " is " + type + ": it must be function");
        }
        Map<String, Object> function = function(tool.object("function").orElseThrow(() -> tool.missing("function")));
        tool.refuseOthers();
        return FunctionTool.of(function);
    }

    /** Reads what describes a function: name, description, parameters, and whether calls are held to these. */
    public static Map<String, Object> function(JsonFields function) {
        Map<String, Object> read = FunctionTool.function(function, "parameters");
        function.refuseOthers();
        return read;
    }
}
