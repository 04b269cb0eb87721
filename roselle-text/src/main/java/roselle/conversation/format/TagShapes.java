package roselle.conversation.format;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.conversation.format.Shape.Choice;
import roselle.conversation.format.Shape.Literal;
import roselle.conversation.format.Shape.Member;
import roselle.conversation.format.Shape.Members;
import roselle.conversation.format.Shape.ParameterText;
import roselle.conversation.format.Shape.Repeated;
import roselle.conversation.format.Shape.Sequence;

/**
 * The shape of arguments as elements that their keys name. Objects whose members the schema names, and lists, are elements within; other
 * objects and lists are written as JSON.
 */
record TagShapes(String namespace) {
    private static final int MAX_DEPTH = 4; // of elements; what is deeper is written as JSON
    private static final int MAX_ITEMS = 16;
    private static final Set<String> REMARKS = Set.of(
            "type", "title", "description", "default", "examples", "deprecated", "$defs", "definitions", "$schema");

    /** The members of an object. */
    Shape members(Map<String, Object> schema, int depth) {
        List<?> required = schema.get("required") instanceof List<?> names ? names : List.of();
        var members = new ArrayList<Member>();
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((key, value) -> {
                Map<?, ?> given = value instanceof Map<?, ?> map ? map : Map.of();
                Shape member = element(String.valueOf(key), ParameterKinds.part(given, schema), depth);
                members.add(new Member(member, required.contains(key)));
            });
        }
        return new Members(members, "");
    }

    private Shape element(String name, Map<String, Object> schema, int depth) {
        var contents = new ArrayList<Shape>();
        if (depth < MAX_DEPTH) {
            List<Map<String, Object>> kinds = ParameterKinds.of(schema);
            if (kinds.size() == 1 && isObject(kinds.getFirst())) {
                contents.add(members(kinds.getFirst(), depth + 1));
            } else if (kinds.size() == 1 && isList(kinds.getFirst())) {
                Map<?, ?> given = kinds.getFirst().get("items") instanceof Map<?, ?> map ? map : Map.of();
                Shape item = element("item", ParameterKinds.part(given, kinds.getFirst()), depth + 1);
                contents.add(items(kinds.getFirst(), item));
            }
        }
        Shape content = contents.isEmpty() ? new ParameterText(schema, namespace) : contents.getFirst();
        return new Sequence(List.of(
                new Literal(namespace + '<' + name + '>'), content, new Literal(namespace + "</" + name + '>')));
    }

    private static boolean isObject(Map<String, Object> kind) {
        boolean isList = kind.get("properties") instanceof Map<?, ?> properties && properties.containsKey("item");
        return isNamed(kind) && !isList; // would be read as one
    }

    /** Whether a value is an object whose members are all named. */
    static boolean isNamed(Map<String, Object> kind) {
        return "object".equals(kind.get("type"))
                && kind.get("properties") instanceof Map<?, ?> properties
                && !properties.isEmpty()
                && kind.keySet().stream()
                        .allMatch(key -> REMARKS.contains(key)
                                || key.equals("properties")
                                || key.equals("required")
                                || (key.equals("additionalProperties") && Boolean.FALSE.equals(kind.get(key))));
    }

    /** Whether a value is a list whose items are described, and not too many to be written out. */
    static boolean isList(Map<String, Object> kind) {
        return "array".equals(kind.get("type"))
                && kind.get("items") instanceof Map<?, ?>
                && least(kind) <= MAX_ITEMS
                && least(kind) <= most(kind)
                && (most(kind) <= MAX_ITEMS || most(kind) == Integer.MAX_VALUE)
                && kind.keySet().stream()
                        .allMatch(key -> REMARKS.contains(key)
                                || Set.of("items", "minItems", "maxItems").contains(key));
    }

    private static int least(Map<String, Object> kind) {
        return kind.get("minItems") instanceof Number number ? number.intValue() : 0;
    }

    private static int most(Map<String, Object> kind) {
        return kind.get("maxItems") instanceof Number number ? number.intValue() : Integer.MAX_VALUE;
    }

    /** As many items as a list may have. */
    static Shape items(Map<String, Object> list, Shape item) {
        int most = most(list);
        Shape rest = most == Integer.MAX_VALUE ? new Repeated(item, "", 0, most) : new Literal("");
        for (int further = least(list); most < Integer.MAX_VALUE && further < most; further++) {
            rest = new Choice(List.of(new Literal(""), new Sequence(List.of(item, rest))));
        }
        var parts = new ArrayList<Shape>(Collections.nCopies(least(list), item));
        parts.add(rest);
        return new Sequence(parts);
    }
}
