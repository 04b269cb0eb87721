package roselle.structured;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Closes the schema of a tool's arguments: an object that names its properties has no others, unless the schema says what others are
 * like. Small models invent properties otherwise, and other servers close these schemas, too.
 *
 * <p>What a closed schema allows its original allows, and no named property is lost. Therefore schemas whose parts describe one object
 * together ({@code allOf}, {@code not}, {@code if} and the like, alternatives that no property tells apart) stay as they are, and so do
 * definitions that such parts refer to; a schema with references of which it is not plain where they lead is left whole.
 */
final class ClosedArguments {
    private static final String REFERENCE = "$ref";

    /** Keywords of which several parts describe one value, or a part is no more than a condition. */
    private static final Set<String> COMPOSING = Set.of(
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "dependencies",
            "dependentSchemas",
            "extends",
            "disallow",
            "unevaluatedProperties",
            "unevaluatedItems");

    /** Keywords that say what other properties there may be, or which must be there. */
    private static final Set<String> OPENING = Set.of(
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "dependentRequired",
            "minProperties",
            "const",
            "enum");

    /** What may stand beside a reference or alternatives and says nothing of the value. */
    private static final Set<String> ANNOTATING =
            Set.of("title", "description", "default", "examples", "deprecated", "definitions", "discriminator");

    /** Of which one alone describes a value, if they can be told apart. */
    private static final List<String> ALTERNATIVES = List.of("anyOf", "oneOf");

    private static final Set<String> SCALARS = Set.of("string", "number", "integer", "boolean", "null");
    private static final int MAX_REFERENCES = 16;

    private static final Set<String> MOVING = Set.of("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor");
    private static final Set<String> DEFINITIONS = Set.of("$defs", "definitions");
    private static final Set<String> SCHEMAS = Set.of("items", "additionalItems", "additionalProperties");
    private static final Set<String> LISTS = Set.of("items", "prefixItems", "anyOf", "oneOf");
    private static final Set<String> MAPS = Set.of("properties", "patternProperties");

    private final Set<String> kept = new LinkedHashSet<>(); // definitions that must stay as they are

    private final Map<String, Object> whole;

    private ClosedArguments(Map<String, Object> whole) {
        this.whole = whole;
    }

    /** The closed schema. */
    static Map<String, Object> of(Map<String, Object> schema) {
        if (hasFarReference(schema, true)) {
            return schema;
        }
        var closing = new ClosedArguments(schema);
        Map<String, Object> closed;
        int before;
        do {
            before = closing.kept.size();
            closed = closing.root(schema);
        } while (closing.kept.size() > before);
        return closing.kept.contains("#") ? schema : closed;
    }

    /** Whether a reference, or what changes where references lead, is other than to the whole or to one of its definitions. */
    private static boolean hasFarReference(Object value, boolean isRoot) {
        return switch (value) {
            case Map<?, ?> map ->
                map.keySet().stream().anyMatch(key -> MOVING.contains(key) || (!isRoot && "$id".equals(key)))
                        || (map.get(REFERENCE) instanceof String reference && !isNear(reference))
                        || map.values().stream().anyMatch(part -> part != null && hasFarReference(part, false));
            case List<?> list -> list.stream().anyMatch(part -> part != null && hasFarReference(part, false));
            default -> false;
        };
    }

    private static boolean isNear(String reference) {
        String[] steps = reference.split("/", -1);
        return reference.equals("#")
                || (steps.length == 3
                        && steps[0].equals("#")
                        && DEFINITIONS.contains(steps[1])
                        && !steps[2].contains("~")
                        && !steps[2].contains("%"));
    }

    private Map<String, Object> root(Map<String, Object> schema) {
        Map<String, Object> closed = new LinkedHashMap<>(schema(schema));
        for (String keyword : DEFINITIONS) {
            if (schema.get(keyword) instanceof Map<?, ?> definitions) {
                closed.put(keyword, definitions(keyword, definitions));
            }
        }
        return closed;
    }

    private Map<String, Object> definitions(String keyword, Map<?, ?> definitions) {
        Map<String, Object> closed = new LinkedHashMap<>();
        definitions.forEach((name, value) -> {
            boolean stays = kept.contains("#/" + keyword + "/" + name);
            closed.put(String.valueOf(name), stays ? asItIs(value) : part(value));
        });
        return closed;
    }

    private Object part(Object value) {
        return value instanceof Map<?, ?> map ? schema(named(map)) : value;
    }

    /** An object of JSON, whose nulls stay: {@code const} may be one. */
    @SuppressWarnings("unchecked") // names of JSON are texts
    private static Map<String, Object> named(Map<?, ?> map) {
        return (Map<String, Object>) map;
    }

    private Map<String, Object> schema(Map<String, Object> schema) {
        if (isComposed(schema)) {
            schema.forEach((keyword, value) -> {
                if (!DEFINITIONS.contains(keyword)) {
                    asItIs(value);
                }
            });
            if (schema.get(REFERENCE) instanceof String reference) {
                kept.add(reference);
            }
            return schema;
        }
        Map<String, Object> closed = new LinkedHashMap<>();
        schema.forEach((keyword, value) -> closed.put(keyword, keyword(keyword, value)));
        if (isOpen(schema)) {
            closed.put("additionalProperties", false);
        }
        return closed;
    }

    private Object keyword(String keyword, Object value) {
        return switch (value) {
            case Map<?, ?> map
            when MAPS.contains(keyword) -> {
                Map<String, Object> closed = new LinkedHashMap<>();
                map.forEach((name, schema) -> closed.put(String.valueOf(name), part(schema)));
                yield closed;
            }
            case Map<?, ?> map when SCHEMAS.contains(keyword) -> part(map);
            case List<?> list
            when LISTS.contains(keyword) -> {
                List<Object> closed = new ArrayList<>();
                list.forEach(schema -> closed.add(part(schema)));
                yield closed;
            }
            case null, default -> value;
        };
    }

    /** Notes what a part refers to that stays as it is. */
    private Object asItIs(Object value) {
        switch (value) {
            case Map<?, ?> map -> {
                if (map.get(REFERENCE) instanceof String reference) {
                    kept.add(reference);
                }
                map.values().forEach(this::asItIs);
            }
            case List<?> list -> list.forEach(this::asItIs);
            case null, default -> {}
        }
        return value;
    }

    /** Whether parts describe one value together, or one part may be what another says of the same object. */
    private boolean isComposed(Map<String, Object> schema) {
        return schema.keySet().stream().anyMatch(COMPOSING::contains)
                || (schema.containsKey(REFERENCE) && !isAlone(REFERENCE, schema))
                || ALTERNATIVES.stream()
                        .anyMatch(keyword -> schema.get(keyword) instanceof List<?> branches
                                && !(isAlone(keyword, schema)
                                        && (areToldApart(branches)
                                                || (keyword.equals("anyOf") && objects(branches) < 2))));
    }

    private static long objects(List<?> branches) {
        return branches.stream().filter(ClosedArguments::mayBeObject).count();
    }

    /** Whether all that may be objects have a property of which each has other values, and must have it, but for one at most. */
    private boolean areToldApart(List<?> branches) {
        List<Map<String, Object>> objects = branches.stream()
                .filter(branch -> !isScalar(branch))
                .map(branch -> referred(branch, 0))
                .toList();
        return !objects.isEmpty()
                && objects.getFirst().get("properties") instanceof Map<?, ?> properties
                && properties.keySet().stream().anyMatch(name -> tells(String.valueOf(name), objects));
    }

    private static boolean isScalar(Object branch) {
        return branch instanceof Map<?, ?> map && map.get("type") instanceof String type && SCALARS.contains(type);
    }

    /** What a branch refers to, if it does nothing else; empty for what is no object's schema. */
    private Map<String, Object> referred(@Nullable Object branch, int references) {
        if (!(branch instanceof Map<?, ?> map) || references > MAX_REFERENCES) {
            return Map.of();
        }
        if (!(map.get(REFERENCE) instanceof String reference)) {
            return named(map);
        }
        if (!isAlone(REFERENCE, named(map)) || reference.equals("#")) {
            return Map.of();
        }
        String[] steps = reference.split("/", -1);
        return referred(whole.get(steps[1]) instanceof Map<?, ?> found ? found.get(steps[2]) : null, references + 1);
    }

    private static boolean tells(String property, List<Map<String, Object>> objects) {
        Set<Object> seen = new LinkedHashSet<>();
        int without = 0;
        for (Map<String, Object> object : objects) {
            boolean isRequired = object.get("required") instanceof Collection<?> names && names.contains(property);
            without += isRequired ? 0 : 1;
            List<?> values = texts(object, property);
            if (values.isEmpty() || without > 1 || values.stream().anyMatch(seen::contains)) {
                return false;
            }
            seen.addAll(values);
        }
        return true;
    }

    /** The texts that a property must be one of; none where it may be anything else. */
    private static List<?> texts(Map<String, Object> object, String property) {
        if (!(object.get("properties") instanceof Map<?, ?> map) || !(map.get(property) instanceof Map<?, ?> schema)) {
            return List.of();
        }
        List<?> values = schema.get("enum") instanceof List<?> some ? some : List.of();
        if (schema.get("const") instanceof String one) {
            values = List.of(one);
        }
        return values.stream().allMatch(String.class::isInstance) ? values : List.of();
    }

    private static boolean isAlone(String keyword, Map<String, Object> schema) {
        return schema.keySet().stream()
                .allMatch(key -> key.equals(keyword)
                        || ANNOTATING.contains(key)
                        || (key.startsWith("$") && !key.equals(REFERENCE)));
    }

    private static boolean mayBeObject(Object branch) {
        return !(branch instanceof Map<?, ?> map && map.get("type") instanceof String type && !type.equals("object"));
    }

    /** Whether an object names its properties and says nothing of others. */
    private static boolean isOpen(Map<String, Object> schema) {
        return schema.get("properties") instanceof Map<?, ?> properties
                && schema.keySet().stream().noneMatch(OPENING::contains)
                && (!(schema.get("required") instanceof Collection<?> required)
                        || properties.keySet().containsAll(required));
    }
}
