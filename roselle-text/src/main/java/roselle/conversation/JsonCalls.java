package roselle.conversation;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls as JSON: one object with {@code name} and {@code arguments}, or an array of them.
 *
 * <p>A model may write anything, so the JSON is read strictly and within limits, and what is beyond them is no call.
 */
final class JsonCalls implements CallSyntax {
    private static final int MAX_CALLS = 128;
    private static final int MAX_DEPTH = 63; // a call is part of a document of 64
    private static final int MAX_TOKENS = 4_000_000;

    private static final JsonMapper MAPPER =
            JsonLimits.DEFAULT.withDepth(MAX_DEPTH).withTokens(MAX_TOKENS).mapper();

    @Override
    public List<WrittenCall> read(String written) {
        try {
            JsonNode node = MAPPER.readTree(written);
            return isWellFormed(node) ? calls(node) : List.of();
        } catch (JacksonException _) { // not JSON, or beyond the limits
            return List.of();
        }
    }

    private static List<WrittenCall> calls(JsonNode node) {
        if (!node.isArray()) {
            WrittenCall only = call(node);
            return only == null ? List.of() : List.of(only);
        }
        var calls = new ArrayList<WrittenCall>();
        for (JsonNode each : node.values()) {
            WrittenCall call = call(each);
            if (call == null || calls.size() == MAX_CALLS) {
                return List.of();
            }
            calls.add(call);
        }
        return calls;
    }

    private static @Nullable WrittenCall call(JsonNode node) {
        JsonNode name = node.isObject() ? node.get("name") : null;
        return name != null && name.isString() ? new WrittenCall(name.stringValue(), arguments(node)) : null;
    }

    /** Llama's word for the arguments is parameters. */
    private static String arguments(JsonNode call) {
        JsonNode value = present(call.get("arguments"));
        value = value == null ? present(call.get("parameters")) : value;
        if (value == null) {
            return "{}";
        }
        return value.isString() ? value.stringValue() : value.toString();
    }

    private static @Nullable JsonNode present(@Nullable JsonNode value) {
        return value == null || value.isNull() ? null : value;
    }

    /** Half of a surrogate pair is no text; an escape can spell one. */
    private static boolean isWellFormed(JsonNode node) {
        if (node.isString()) {
            return isWellFormed(node.stringValue());
        }
        if (node.isObject()) {
            return node.properties().stream()
                    .allMatch(field -> isWellFormed(field.getKey()) && isWellFormed(field.getValue()));
        }
        return node.values().stream().allMatch(JsonCalls::isWellFormed);
    }

    private static boolean isWellFormed(String text) {
        return text.codePoints()
                .noneMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }
}
