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

/** Arguments as elements within elements, down to the single texts and numbers. */
final class NestedArguments {
    /** How a family of models writes an element. */
    enum Style {
        /** Each says whether it is text, JSON, an object or a list; items have no name. */
        COHERE {
            @Override
            String begin(@Nullable String name, String type) {
                return "<cofl:value" + (name == null ? "" : " name=\"" + name + '"') + " type=\"" + type + "\">";
            }

            @Override
            String end(@Nullable String name) {
                return "</cofl:value>";
            }
        },
        /** Each is named by its key, and a mark that no text has stands before all that it is written with. */
        MINIMAX_M3 {
            @Override
            String begin(@Nullable String name, String type) {
                return NAMESPACE + '<' + (name == null ? "item" : name) + '>';
            }

            @Override
            String end(@Nullable String name) {
                return NAMESPACE + "</" + (name == null ? "item" : name) + '>';
            }
        };

        private static final String NAMESPACE = "]<]minimax[>[";

        /** Before a value; an item of a list has no name. */
        abstract String begin(@Nullable String name, String type);

        /** Behind it. */
        abstract String end(@Nullable String name);

        /** What no text has in it. */
        String stop() {
            return this == COHERE ? end(null) : NAMESPACE;
        }

        /** Whether a key can be written. */
        boolean canName(String key) {
            return this == COHERE
                    ? key.chars().noneMatch(letter -> "\"<>&".indexOf(letter) >= 0)
                    : !key.isEmpty() && key.chars().noneMatch(letter -> letter <= ' ' || "/<>".indexOf(letter) >= 0);
        }
    }

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

    private final Style style;

    private NestedArguments(Style style) {
        this.style = style;
    }

    /** The arguments that a schema names. */
    static Shape of(Style style, Map<String, Object> schema) {
        return new NestedArguments(style).properties(schema, 0);
    }

    private Shape properties(Map<String, Object> schema, int depth) {
        String unwritten = Tools.unwrittenOf(schema);
        if (!unwritten.isEmpty()) {
            throw refusal("an object's " + unwritten);
        }
        List<?> required = schema.get("required") instanceof List<?> names ? names : List.of();
        var members = new ArrayList<Shape.Member>();
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, value) -> members.add(new Shape.Member(
                    value(named(String.valueOf(name)), within(value, schema), depth + 1), required.contains(name))));
        } else if (depth > 0) {
            throw refusal("an object that names no properties");
        }
        return new Shape.Members(members, "");
    }

    private String named(String name) {
        if (!style.canName(name)) {
            throw refusal("the name " + name);
        }
        return name;
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

    private Shape value(@Nullable String name, Map<String, Object> schema, int depth) {
        if (depth > MAX_DEPTH) {
            throw refusal("a schema that is nested deeper than " + MAX_DEPTH);
        }
        var branches = new ArrayList<Shape>();
        for (Map<String, Object> kind : ParameterKinds.of(schema)) {
            branches.addAll(kind(name, kind, depth));
        }
        return branches.size() == 1 ? branches.getFirst() : new Shape.Choice(branches);
    }

    private List<Shape> kind(@Nullable String name, Map<String, Object> kind, int depth) {
        if (kind.get("type") instanceof String type) {
            return List.of(
                    switch (type) {
                        case "string" -> element(name, "raw", new Shape.ParameterText(kind, style.stop()));
                        case "object" -> element(name, "dict", properties(kind, depth));
                        case "array" -> element(name, "list", items(kind, depth));
                        default -> element(name, "json", new Shape.Json(kind));
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
                            ? element(name, "raw", new Shape.ParameterText(one, style.stop()))
                            : element(name, "json", new Shape.Json(one)));
        }
        if (branches.isEmpty()) {
            throw refusal("a value of any kind");
        }
        return branches;
    }

    private Shape element(@Nullable String name, String type, Shape content) {
        return new Shape.Sequence(List.of(new Literal(style.begin(name, type)), content, new Literal(style.end(name))));
    }

    private Shape items(Map<String, Object> list, int depth) {
        for (String keyword : list.keySet()) {
            if (!OF_LISTS.contains(keyword)) {
                throw refusal("a list's " + keyword);
            }
        }
        Shape item = value(null, within(list.get("items"), list), depth + 1);
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
