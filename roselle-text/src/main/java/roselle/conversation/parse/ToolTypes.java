package roselle.conversation.parse;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.ParameterKinds;

/** The tools of a request, and the types that their schemas give to parameters. */
public final class ToolTypes {
    /** Of a request without tools. */
    public static final ToolTypes NONE = new ToolTypes(List.of());

    private static final int MAX_NESTING = 16;

    private final Map<String, Map<?, ?>> parameters = new HashMap<>();
    private final Map<String, Map<String, Object>> schemas = new HashMap<>();

    /** @param tools in the JSON form of OpenAI's {@code tools} */
    public ToolTypes(List<Map<String, Object>> tools) {
        for (Map<String, Object> tool : tools) {
            Map<?, ?> function = tool.get("function") instanceof Map<?, ?> inner ? inner : tool;
            if (function.get("name") instanceof String name) {
                Object schema = function.get("parameters");
                Object properties = schema instanceof Map<?, ?> map ? map.get("properties") : null;
                if (schema instanceof Map<?, ?> map) {
                    schemas.put(name, ParameterKinds.part(map, Map.of()));
                }
                parameters.put(name, properties instanceof Map<?, ?> map ? map : Map.of());
            }
        }
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return parameters.isEmpty();
    }

    /** Whether a tool has this name. */
    public boolean has(String name) {
        return parameters.containsKey(name);
    }

    /** The kinds of a tool's arguments as a whole. */
    List<Map<String, Object>> schema(String tool) {
        return ParameterKinds.of(schemas.getOrDefault(tool, Map.of()));
    }

    /** What some kinds say of a member, or of items where no name is given; nothing where they do not say. */
    static List<Map<String, Object>> within(List<Map<String, Object>> kinds, @Nullable String name) {
        for (Map<String, Object> kind : kinds) {
            Object part = name == null
                    ? kind.get("items")
                    : kind.get("properties") instanceof Map<?, ?> properties ? properties.get(name) : null;
            if (part instanceof Map<?, ?> schema) {
                return ParameterKinds.of(ParameterKinds.part(schema, kind));
            }
        }
        return List.of();
    }

    /** The types of a value of some kinds; empty where they do not say. */
    static Optional<Set<String>> types(List<Map<String, Object>> kinds) {
        var types = new TreeSet<String>();
        boolean areKnown = true;
        for (Map<String, Object> kind : kinds) {
            areKnown &= collect(kind, types, 0);
        }
        return areKnown && !types.isEmpty() ? Optional.of(types) : Optional.empty();
    }

    /** The name of a tool's parameter by its position in the schema. */
    String parameter(String tool, int position) {
        Map<?, ?> known = parameters.getOrDefault(tool, Map.of());
        return known.keySet().stream()
                .skip(position)
                .findFirst()
                .map(String::valueOf)
                .orElse("argument" + position);
    }

    /** The types that a parameter may have; empty where the schema does not say. */
    Optional<Set<String>> types(String tool, String parameter) {
        Object schema = parameters.getOrDefault(tool, Map.of()).get(parameter);
        var types = new TreeSet<String>();
        return schema != null && collect(schema, types, 0) && !types.isEmpty() ? Optional.of(types) : Optional.empty();
    }

    /** Returns whether all types are known. */
    private static boolean collect(@Nullable Object schema, Set<String> types, int depth) {
        if (!(schema instanceof Map<?, ?> map) || depth > MAX_NESTING) {
            return false;
        }
        switch (map.get("type")) {
            case String type -> types.add(type);
            case List<?> several -> several.forEach(type -> types.add(String.valueOf(type)));
            case null, default -> {
                return collectOther(map, types, depth);
            }
        }
        return true;
    }

    private static boolean collectOther(Map<?, ?> schema, Set<String> types, int depth) {
        for (String word : List.of("anyOf", "oneOf")) {
            if (schema.get(word) instanceof List<?> branches) {
                boolean areKnown = true;
                for (Object branch : branches) {
                    areKnown &= collect(branch, types, depth + 1);
                }
                return areKnown;
            }
        }
        if (schema.get("enum") instanceof List<?> values) {
            values.forEach(value -> types.add(ParameterKinds.typeOf(value)));
            return true;
        }
        if (schema.containsKey("const")) {
            types.add(ParameterKinds.typeOf(schema.get("const")));
            return true;
        }
        return false;
    }

    /** A value that was written as text, as JSON of a type that its parameter may have. */
    static String json(String text, Optional<Set<String>> types) {
        String value = text.strip();
        String json = ValueReader.json(value);
        boolean fits = !json.isEmpty()
                && !(value.startsWith("'") || value.startsWith("\"") || value.startsWith("("))
                && types.map(allowed -> allowed.contains(type(json))
                                || (isNumber(allowed) && type(json).equals("number")))
                        .orElse(true);
        return fits ? json : JsonText.quoted(text);
    }

    private static boolean isNumber(Set<String> types) {
        return types.contains("integer");
    }

    private static String type(String json) {
        return switch (json.charAt(0)) {
            case '{' -> "object";
            case '[' -> "array";
            case 't', 'f' -> "boolean";
            case 'n' -> "null";
            default -> "number";
        };
    }

    /** Whether a parameter takes nothing but texts. */
    static boolean isText(Optional<Set<String>> types) {
        return types.map(Set.of("string")::equals).orElse(false);
    }

    /** Whether a parameter takes nothing but objects and lists. */
    static boolean isNested(Optional<Set<String>> types) {
        return types.map(Set.of("object", "array")::containsAll).orElse(false);
    }
}
