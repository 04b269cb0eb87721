package roselle.structured;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.ParameterKinds;
import roselle.conversation.format.Shape;
import roselle.conversation.format.Shape.Literal;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;

/** Arguments as Cohere's models write them: elements within elements, each of which says whether it is text, JSON, an object or a list. */
final class CohereArguments {
    private static final String END = "</cofl:value>";
    private static final int MAX_DEPTH = 24;
    private static final int MAX_ITEMS = 64;
    private static final Set<String> OF_LISTS = Set.of(
            "type",
            "items",
            "minItems",
            "maxItems",
            "title",
            "description",
            "default",
            "examples",
            "$defs",
            "definitions");

    private CohereArguments() {}

    /** The arguments that a schema names. */
    static Shape of(Map<String, Object> schema) {
        return properties(schema, 0);
    }

    private static Shape properties(Map<String, Object> schema, int depth) {
        String unwritten = Tools.unwrittenOf(schema);
        if (!unwritten.isEmpty()) {
            throw refusal("an object's " + unwritten);
        }
        List<?> required = schema.get("required") instanceof List<?> names ? names : List.of();
        var members = new ArrayList<Shape.Member>();
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, value) -> members.add(new Shape.Member(
                    value(attribute(String.valueOf(name)), within(value, schema), depth + 1),
                    required.contains(name))));
        } else if (depth > 0) {
            throw refusal("an object that names no properties");
        }
        return new Shape.Members(members, "");
    }

    private static String attribute(String name) {
        if (name.chars().anyMatch(letter -> "\"<>&".indexOf(letter) >= 0)) {
            throw refusal("the name " + name);
        }
        return " name=\"" + name + '"';
    }

    /** A part of a schema with the definitions that it may refer to. */
    private static Map<String, Object> within(@Nullable Object part, Map<String, Object> schema) {
        if (!(part instanceof Map<?, ?> map)) {
            throw refusal("a value of any kind");
        }
        Map<String, Object> whole = new LinkedHashMap<>(Tools.copy(map));
        for (String definitions : List.of("$defs", "definitions")) {
            if (schema.get(definitions) instanceof Map<?, ?> given) {
                whole.putIfAbsent(definitions, given);
            }
        }
        return whole;
    }

    private static Shape value(String attribute, Map<String, Object> schema, int depth) {
        if (depth > MAX_DEPTH) {
            throw refusal("a schema that is nested deeper than " + MAX_DEPTH);
        }
        var branches = new ArrayList<Shape>();
        for (Map<String, Object> kind : ParameterKinds.of(schema)) {
            branches.addAll(kind(attribute, kind, depth));
        }
        return branches.size() == 1 ? branches.getFirst() : new Shape.Choice(branches);
    }

    private static List<Shape> kind(String attribute, Map<String, Object> kind, int depth) {
        if (kind.get("type") instanceof String type) {
            return List.of(
                    switch (type) {
                        case "string" -> element(attribute, "raw", new Shape.ParameterText(kind, END));
                        case "object" -> element(attribute, "dict", properties(kind, depth));
                        case "array" -> element(attribute, "list", items(kind, depth));
                        default -> element(attribute, "json", new Shape.Json(kind));
                    });
        }
        var branches = new ArrayList<Shape>();
        for (@Nullable Object value : ParameterKinds.texts(kind)) {
            Map<String, Object> one = new LinkedHashMap<>(kind);
            one.remove("enum");
            one.put("type", ParameterKinds.typeOf(value));
            one.put("enum", Collections.singletonList(value));
            branches.add(
                    value instanceof String
                            ? element(attribute, "raw", new Shape.ParameterText(one, END))
                            : element(attribute, "json", new Shape.Json(one)));
        }
        if (branches.isEmpty()) {
            throw refusal("a value of any kind");
        }
        return branches;
    }

    private static Shape element(String attribute, String type, Shape content) {
        return new Shape.Sequence(
                List.of(new Literal("<cofl:value" + attribute + " type=\"" + type + "\">"), content, new Literal(END)));
    }

    private static Shape items(Map<String, Object> list, int depth) {
        for (String keyword : list.keySet()) {
            if (!OF_LISTS.contains(keyword)) {
                throw refusal("a list's " + keyword);
            }
        }
        Shape item = value("", within(list.get("items"), list), depth + 1);
        int least = list.get("minItems") instanceof Number number ? number.intValue() : 0;
        int most = list.get("maxItems") instanceof Number number ? number.intValue() : Integer.MAX_VALUE;
        if (least < 0 || least > MAX_ITEMS || (most > MAX_ITEMS && most < Integer.MAX_VALUE) || most < least) {
            throw refusal("a list of " + least + " to " + most + " items");
        }
        Shape rest = most == Integer.MAX_VALUE ? new Shape.Repeated(item, "", 0, most) : new Literal("");
        for (int further = least; most < Integer.MAX_VALUE && further < most; further++) {
            rest = new Shape.Choice(List.of(new Literal(""), new Shape.Sequence(List.of(item, rest))));
        }
        var parts = new ArrayList<Shape>(Collections.nCopies(least, item));
        parts.add(rest);
        return new Shape.Sequence(parts);
    }

    private static GrammarException refusal(String what) {
        return new GrammarException(Reason.UNSUPPORTED, what + " cannot be held to in this style.");
    }
}
