package roselle.server.openai.common;

import java.util.ArrayList;
import roselle.api.InvalidRequestException;
import roselle.api.ToolUse;
import roselle.api.ToolUse.Choice;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads {@code tool_choice} and {@code parallel_tool_calls}. */
public final class ToolUseFields {
    private ToolUseFields() {}

    public static ToolUse read(JsonFields fields) {
        boolean isParallel = fields.bool("parallel_tool_calls", true);
        JsonNode asked = fields.any("tool_choice").orElse(null);
        if (asked == null) {
            return new ToolUse(Choice.AUTO, "", isParallel);
        }
        if (asked.path("type").isString() && asked.path("type").stringValue().equals("allowed_tools")) {
            return allowed(asked, isParallel);
        }
        if (asked.isObject()) {
            return named(asked, isParallel);
        }
        return switch (asked.isString() ? asked.stringValue() : "") {
            case "auto" -> new ToolUse(Choice.AUTO, "", isParallel);
            case "none" -> new ToolUse(Choice.NONE, "", isParallel);
            case "required" -> new ToolUse(Choice.REQUIRED, "", isParallel);
            default -> throw unknown();
        };
    }

    /** A tool by its name, which chat completions have in {@code function}, and responses beside the type. */
    private static ToolUse named(JsonNode asked, boolean isParallel) {
        JsonNode name =
                asked.path("function").isObject() ? asked.path("function").path("name") : asked.path("name");
        if (!asked.path("type").isString()
                || !asked.path("type").stringValue().equals("function")
                || !name.isString()) {
            throw unknown();
        }
        try {
            return new ToolUse(Choice.NAMED, name.stringValue(), isParallel);
        } catch (InvalidRequestException _) { // of an empty name
            throw unknown();
        }
    }

    /** Some of the tools, which chat completions have in {@code allowed_tools}, and responses beside the type. */
    private static ToolUse allowed(JsonNode asked, boolean isParallel) {
        JsonNode allowed = asked.path("allowed_tools").isObject() ? asked.path("allowed_tools") : asked;
        String mode = allowed.path("mode").isString() ? allowed.path("mode").stringValue() : "auto";
        if (!allowed.path("tools").isArray() || !(mode.equals("auto") || mode.equals("required"))) {
            throw unknown();
        }
        var names = new ArrayList<String>();
        for (JsonNode tool : allowed.path("tools")) {
            names.add(named(tool, isParallel).name());
        }
        if (names.isEmpty()) {
            throw ApiException.invalid("tool_choice", "tool_choice allows no tool: say none instead");
        }
        return new ToolUse(mode.equals("auto") ? Choice.AUTO : Choice.REQUIRED, "", isParallel, names);
    }

    private static ApiException unknown() {
        return ApiException.invalid(
                "tool_choice",
                "tool_choice is neither none or auto, nor required, nor a function by its name, nor allowed_tools with"
                        + " a mode and functions");
    }
}
