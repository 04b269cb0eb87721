package roselle.conversation.format;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The types that a parameter may have whose value is written as text where it is one, and as JSON where it is not. */
public final class ParameterKinds {
    /** What binds nothing. */
    private static final Set<String> REMARKS =
            Set.of("type", "title", "description", "default", "examples", "deprecated", "$defs", "definitions");

    private static final Set<String> FREE_TYPES = Set.of("string", "null", "boolean", "number", "integer");
    private static final int MAX_REFERENCES = 32;

    private ParameterKinds() {}

    /** The schemas of its types, one each; the schema itself where it does not tell them apart. */
    public static List<Map<String, Object>> of(Map<String, Object> schema) {
        return of(schema, 0);
    }

    private static List<Map<String, Object>> of(Map<String, Object> schema, int references) {
        var kinds = new ArrayList<Map<String, Object>>();
        if (schema.get("$ref") instanceof String reference && references < MAX_REFERENCES) {
            Map<String, Object> referred = referred(schema, reference);
            return referred.isEmpty() ? List.of(schema) : of(referred, references + 1);
        }
        if (schema.get("type") instanceof List<?> types) {
            for (Object type : types) {
                Map<String, Object> kind = new LinkedHashMap<>(schema);
                kind.put("type", type);
                kinds.add(kind);
            }
            return kinds;
        }
        for (String word : List.of("anyOf", "oneOf")) {
            if (schema.get(word) instanceof List<?> branches && isRemarked(schema, word)) {
                for (Object branch : branches) {
                    kinds.addAll(branch instanceof Map<?, ?> map ? of(within(schema, map), references + 1) : List.of());
                }
                return kinds;
            }
        }
        return List.of(schema);
    }

    /** What a reference within the definitions names, with what stands beside it; empty for another one. */
    private static Map<String, Object> referred(Map<String, Object> schema, String reference) {
        for (String definitions : List.of("$defs", "definitions")) {
            String prefix = "#/" + definitions + "/";
            if (reference.startsWith(prefix)
                    && schema.get(definitions) instanceof Map<?, ?> map
                    && map.get(reference.substring(prefix.length())) instanceof Map<?, ?> target) {
                Map<String, Object> whole = new LinkedHashMap<>(schema);
                whole.remove("$ref");
                boolean isAlone = REMARKS.containsAll(whole.keySet());
                return isAlone ? within(schema, target) : Map.of();
            }
        }
        return Map.of();
    }

    private static Map<String, Object> within(Map<String, Object> schema, Map<?, ?> part) {
        return part(part, schema);
    }

    /** A part of a schema, with the definitions that it may refer to. */
    public static Map<String, Object> part(Map<?, ?> part, Map<String, Object> schema) {
        Map<String, Object> whole = new LinkedHashMap<>();
        part.forEach((key, value) -> whole.put(String.valueOf(key), value));
        for (String definitions : List.of("$defs", "definitions")) {
            if (schema.get(definitions) instanceof Map<?, ?> map) {
                whole.putIfAbsent(definitions, map);
            }
        }
        return whole;
    }

    private static boolean isRemarked(Map<String, Object> schema, String word) {
        return schema.keySet().stream().allMatch(key -> key.equals(word) || REMARKS.contains(key));
    }

    /** Whether a value of this kind may be a text. */
    public static boolean mayBeText(Map<String, Object> kind) {
        return switch (kind.get("type")) {
            case String type -> type.equals("string");
            case null, default -> texts(kind).isEmpty() || texts(kind).stream().anyMatch(String.class::isInstance);
        };
    }

    /** This kind where its value has one of some types; empty where it has none of them. */
    static Map<String, Object> ofTypes(Map<String, Object> kind, List<String> types) {
        if (kind.get("type") instanceof String type) {
            boolean isOne = types.contains(type) || (type.equals("integer") && types.contains("number"));
            return isOne ? kind : Map.of();
        }
        List<@Nullable Object> values = texts(kind);
        Map<String, Object> typed = new LinkedHashMap<>(kind);
        typed.put("type", types);
        return values.isEmpty() || values.stream().anyMatch(value -> types.contains(typeOf(value))) ? typed : Map.of();
    }

    /** The type of a value, as schemas name it. */
    public static String typeOf(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case String _ -> "string";
            case Boolean _ -> "boolean";
            case Number _ -> "number";
            case List<?> _ -> "array";
            default -> "object";
        };
    }

    /** Whether nothing binds a value of this kind but its type, or it is one of some. */
    public static boolean isFree(Map<String, Object> kind) {
        boolean isPlain = kind.keySet().stream()
                .allMatch(key -> REMARKS.contains(key) || key.equals("enum") || key.equals("const"));
        boolean isFreeType = !(kind.get("type") instanceof String type) || FREE_TYPES.contains(type);
        return isPlain && isFreeType;
    }

    /** The values that it must be one of; none where it may be any. */
    public static List<@Nullable Object> texts(Map<String, Object> kind) {
        var values = new ArrayList<@Nullable Object>();
        if (kind.containsKey("const")) {
            values.add(kind.get("const"));
        } else if (kind.get("enum") instanceof List<?> some) {
            values.addAll(some);
        }
        if ("string".equals(kind.get("type"))) {
            values.removeIf(value -> !(value instanceof String));
        }
        return values;
    }
}
