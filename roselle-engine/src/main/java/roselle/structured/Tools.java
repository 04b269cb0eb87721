package roselle.structured;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What a request says of its tools, in the JSON form of OpenAI's {@code tools}. */
public final class Tools {
    private static final String STRICT = "strict";
    private static final String PARAMETERS = "parameters";
    private static final Map<String, Object> ANY_OBJECT = Map.of("type", "object");
    private static final Map<String, Object> NOTHING =
            Map.of("type", "object", "properties", Map.of(), "additionalProperties", false);

    /** What a schema may say where its properties are written one by one. */
    private static final Set<String> WRITTEN = Set.of(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "$defs",
            "definitions",
            "$schema",
            "$id",
            "$comment");

    private Tools() {}

    private static Map<?, ?> function(Map<String, Object> tool) {
        return tool.get("function") instanceof Map<?, ?> inner ? inner : tool;
    }

    /** The name of a tool. */
    public static String name(Map<String, Object> tool) {
        return String.valueOf(function(tool).get("name"));
    }

    /** Whether calls of a tool are to be held to its schema. */
    public static boolean isStrict(Map<String, Object> tool) {
        return Boolean.TRUE.equals(function(tool).get(STRICT));
    }

    /** Whether a tool says if its calls are to be held to its schema. */
    public static boolean saysStrict(Map<String, Object> tool) {
        return function(tool).get(STRICT) instanceof Boolean;
    }

    /** A tool that says so. */
    public static Map<String, Object> strict(Map<String, Object> tool, boolean isStrict) {
        Map<String, Object> function = with(copy(function(tool)), STRICT, isStrict);
        return tool.get("function") instanceof Map<?, ?> ? with(tool, "function", function) : function;
    }

    /** The schema of a tool's arguments. */
    public static Map<String, Object> schema(Map<String, Object> tool) {
        return function(tool).get(PARAMETERS) instanceof Map<?, ?> map ? copy(map) : ANY_OBJECT;
    }

    /** An object of JSON without nulls. */
    static Map<String, Object> copy(Map<?, ?> map) {
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            if (value != null) {
                copy.put(String.valueOf(key), value);
            }
        });
        return copy;
    }

    /** The names of a tool's parameters. */
    static Set<String> properties(Map<String, Object> tool) {
        return schema(tool).get("properties") instanceof Map<?, ?> map
                ? copy(map).keySet()
                : Set.of();
    }

    /** A tool as the model hears of it: that it is held to the schema changes nothing for the model. */
    public static Map<String, Object> told(Map<String, Object> tool) {
        if (!function(tool).containsKey(STRICT)) {
            return tool;
        }
        Map<String, Object> function = new LinkedHashMap<>();
        function(tool).forEach((key, value) -> function.put(String.valueOf(key), value));
        function.remove(STRICT);
        return tool.get("function") instanceof Map<?, ?> ? with(tool, "function", function) : function;
    }

    private static Map<String, Object> with(Map<String, Object> map, String key, Object value) {
        Map<String, Object> copy = new LinkedHashMap<>(map);
        copy.put(key, value);
        return copy;
    }

    /** A tool that is called with no arguments but those that it names; one that says nothing of parameters has none. */
    static Map<String, Object> closed(Map<String, Object> tool) {
        Map<String, Object> function = new LinkedHashMap<>(copy(function(tool)));
        function.put(PARAMETERS, function.containsKey(PARAMETERS) ? ClosedArguments.of(schema(tool)) : NOTHING);
        return Map.of("type", "function", "function", function);
    }

    /**
     * A tool whose arguments may be any.
     *
     * @param byProperties whether arguments are written by the properties that the schema names; they have their types then
     */
    static Map<String, Object> relaxed(Map<String, Object> tool, boolean byProperties) {
        Map<String, Object> function = new LinkedHashMap<>(copy(function(tool)));
        function.put(PARAMETERS, byProperties ? typesAlone(schema(tool)) : ANY_OBJECT);
        return Map.of("type", "function", "function", function);
    }

    private static Map<String, Object> typesAlone(Map<String, Object> schema) {
        Map<String, Object> properties = new LinkedHashMap<>();
        if (schema.get("properties") instanceof Map<?, ?> map) {
            map.forEach((name, value) -> properties.put(
                    String.valueOf(name),
                    value instanceof Map<?, ?> property && property.get("type") instanceof String type
                            ? Map.of("type", type)
                            : Map.of()));
        }
        return Map.of("type", "object", "properties", properties);
    }

    /** What a tool's schema says beside its properties, where these alone are written; empty for nothing that binds. */
    static String unwritten(Map<String, Object> tool) {
        return unwrittenOf(schema(tool));
    }

    /** The same of a schema by itself. */
    static String unwrittenOf(Map<String, Object> schema) {
        var others = new TreeSet<>(schema.keySet());
        others.removeAll(WRITTEN);
        return others.isEmpty() ? unknownRequired(schema) : others.first();
    }

    private static String unknownRequired(Map<String, Object> schema) {
        Set<?> known = schema.get("properties") instanceof Map<?, ?> map ? map.keySet() : Set.of();
        return schema.get("required") instanceof List<?> names && !known.containsAll(names) ? "required" : "";
    }
}
