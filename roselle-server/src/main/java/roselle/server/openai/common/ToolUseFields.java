package roselle.server.openai.common;

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

    private static ApiException unknown() {
        return ApiException.invalid(
                "tool_choice", "tool_choice is neither none or auto, nor required, nor a function by its name");
    }
}
