package roselle.conversation.format;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Element.Values;
import roselle.conversation.format.Shape.Choice;
import roselle.conversation.format.Shape.Literal;
import roselle.conversation.format.Shape.Member;
import roselle.conversation.format.Shape.Members;
import roselle.conversation.format.Shape.ParameterText;
import roselle.conversation.format.Shape.Sequence;

/**
 * The shape of arguments as elements that tell their keys and types. Objects whose members the schema names, and lists, are elements
 * within; other objects and lists are JSON.
 */
record ValueShapes(Values layout) {
    private static final int MAX_DEPTH = 4; // of elements; what is deeper is written as JSON

    /** The members of an object. */
    Shape members(Map<String, Object> schema, int depth) {
        List<?> required = schema.get("required") instanceof List<?> names ? names : List.of();
        var members = new ArrayList<Member>();
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((key, value) -> {
                Map<?, ?> given = value instanceof Map<?, ?> map ? map : Map.of();
                Shape member = value(String.valueOf(key), ParameterKinds.part(given, schema), depth);
                members.add(new Member(member, required.contains(key)));
            });
        }
        return new Members(members, "");
    }

    /** A value in all the types that it may have; an item of a list has no name. */
    private Shape value(@Nullable String name, Map<String, Object> schema, int depth) {
        var branches = new ArrayList<Shape>();
        for (Map<String, Object> kind : ParameterKinds.of(schema)) {
            if (depth < MAX_DEPTH && TagShapes.isNamed(kind)) {
                branches.add(element(name, "dict", members(kind, depth + 1)));
            } else if (depth < MAX_DEPTH && TagShapes.isList(kind)) {
                Map<?, ?> items = kind.get("items") instanceof Map<?, ?> map ? map : Map.of();
                Shape item = value(null, ParameterKinds.part(items, kind), depth + 1);
                branches.add(element(name, "list", TagShapes.items(kind, item)));
            } else {
                branches.addAll(single(name, kind));
            }
        }
        return branches.size() == 1 ? branches.getFirst() : new Choice(branches);
    }

    private List<Shape> single(@Nullable String name, Map<String, Object> kind) {
        var shapes = new ArrayList<Shape>();
        Map<String, Object> text = ParameterKinds.ofTypes(kind, List.of("string"));
        if (!text.isEmpty()) {
            Map<String, Object> typed = new LinkedHashMap<>(text);
            typed.put("type", "string");
            shapes.add(element(name, "raw", new ParameterText(typed, layout.end())));
        }
        Map<String, Object> other = ParameterKinds.ofTypes(kind, CallShapes.JSON_TYPES);
        if (!other.isEmpty()) {
            shapes.add(element(name, "json", new Shape.Json(other)));
        }
        return shapes;
    }

    private Shape element(@Nullable String name, String type, Shape content) {
        String key = name == null ? "" : " name=\"" + Values.escaped(name) + '"';
        return new Sequence(List.of(
                new Literal(layout.begin() + key + " type=\"" + type + "\">"), content, new Literal(layout.end())));
    }
}
