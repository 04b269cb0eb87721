package roselle.server.anthropic;

import java.util.List;
import java.util.Map;
import roselle.api.ToolUse;
import roselle.api.ToolUse.Choice;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.FunctionTool;

/** Reads {@code tools}, which callers run themselves, and {@code tool_choice}. */
final class ToolFields {
    private static final int MOST = 1024;

    private ToolFields() {}

    static List<Map<String, Object>> tools(JsonFields fields) {
        return fields.objects("tools", MOST).stream().map(ToolFields::tool).toList();
    }

    private static Map<String, Object> tool(JsonFields tool) {
        String type = tool.string("type").orElse("custom");
        if (!type.equals("custom")) {
            throw ApiException.invalid(
                    tool.path("type"),
                    tool.path("type") + " is " + type + ": this server has no tools of its own, so it must be custom");
        }
        if (!tool.has("input_schema")) {
            throw tool.missing("input_schema");
        }
        Map<String, Object> function = FunctionTool.function(tool, "input_schema");
        CacheMarks.accept(tool);
        tool.requireDefault("eager_input_streaming", "arguments are streamed as they are written", true);
        tool.requireDefault("defer_loading", "the model hears of all tools", false);
        tool.requireDefault("allowed_callers", "the model alone calls tools", List.of("direct"));
        tool.requireDefault("input_examples", "put examples into the description", List.of());
        tool.refuseOthers();
        return FunctionTool.of(function);
    }

    static ToolUse choice(JsonFields fields) {
        return fields.object("tool_choice").map(ToolFields::choiceOf).orElse(ToolUse.AUTO);
    }

    private static ToolUse choiceOf(JsonFields choice) {
        String type = choice.requiredString("type");
        boolean isParallel = type.equals("none") || !choice.bool("disable_parallel_tool_use", false);
        String name = type.equals("tool") ? choice.requiredString("name") : "";
        if (type.equals("tool") && name.isEmpty()) {
            throw ApiException.invalid(
                    choice.path("name"), choice.path("name") + " is empty: it must be a tool's name");
        }
        choice.refuseOthers();
        return new ToolUse(
                switch (type) {
                    case "auto" -> Choice.AUTO;
                    case "any" -> Choice.REQUIRED;
                    case "tool" -> Choice.NAMED;
                    case "none" -> Choice.NONE;
                    default ->
                        throw ApiException.invalid(
                                choice.path("type"),
                                choice.path("type") + " is " + type + ": it must be auto, any, tool or none");
                },
                name,
                isParallel);
    }
}
