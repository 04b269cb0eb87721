package roselle.conversation.format;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Element.Ignored;
import roselle.conversation.format.Element.Json;
import roselle.conversation.format.Element.Maybe;
import roselle.conversation.format.Element.Name;
import roselle.conversation.format.Element.Parameters;
import roselle.conversation.format.Element.ValueBegin;
import roselle.conversation.format.Element.ValueType;
import roselle.conversation.format.Layout.Elements;
import roselle.conversation.format.Layout.JsonObject;
import roselle.conversation.format.Layout.Python;
import roselle.conversation.format.Shape.Choice;
import roselle.conversation.format.Shape.Literal;
import roselle.conversation.format.Shape.Member;
import roselle.conversation.format.Shape.Members;
import roselle.conversation.format.Shape.ParameterText;
import roselle.conversation.format.Shape.Repeated;
import roselle.conversation.format.Shape.Sequence;
import roselle.conversation.format.Shape.Spelling;
import roselle.conversation.format.Shape.Triggered;
import roselle.conversation.format.Shape.Value;

/** The shape of answers that call tools in one format: what a constraint holds a model to. */
public final class CallShapes {
    private static final Map<String, Object> ANY_OBJECT = Map.of("type", "object");

    private final CallFormat format;

    public CallShapes(CallFormat format) {
        this.format = format;
    }

    /**
     * An answer with calls.
     *
     * @param thoughts that may come before
     * @param tools in the JSON form of OpenAI's {@code tools}; to force a call of one tool, that one alone
     * @param mustCall whether there is a call in any case
     * @param isParallel whether there may be several
     */
    public Shape answer(ThoughtFormat thoughts, List<Map<String, Object>> tools, boolean mustCall, boolean isParallel) {
        return new Triggered(thoughts, format.beginMarks(), calls(tools, isParallel), mustCall);
    }

    /** All calls of an answer, with their section. */
    public Shape calls(List<Map<String, Object>> tools, boolean isParallel) {
        var branches = new ArrayList<Shape>();
        for (Map<String, Object> tool : tools) {
            branches.add(sequence(new Literal(format.begin()), call(tool), new Literal(format.end())));
        }
        Shape one = branches.size() == 1 ? branches.getFirst() : new Choice(branches);
        var section = format.section();
        return sequence(
                new Literal(section.begin()),
                new Repeated(one, section.separator(), 1, isParallel ? Integer.MAX_VALUE : 1),
                new Literal(section.end()));
    }

    private static Shape sequence(Shape... parts) {
        var written = new ArrayList<Shape>();
        for (Shape part : parts) {
            switch (part) {
                case Sequence(List<Shape> inner) -> inner.forEach(each -> add(each, written));
                default -> add(part, written);
            }
        }
        return written.size() == 1 ? written.getFirst() : new Sequence(written);
    }

    /** Adds a part; literals beside each other become one. */
    private static void add(Shape part, List<Shape> written) {
        if (!(part instanceof Literal(String text))) {
            written.add(part);
        } else if (!written.isEmpty() && written.getLast() instanceof Literal(String before)) {
            written.set(written.size() - 1, new Literal(before + text));
        } else if (!text.isEmpty()) {
            written.add(part);
        }
    }

    private Shape call(Map<String, Object> tool) {
        Map<?, ?> function = tool.get("function") instanceof Map<?, ?> inner ? inner : tool;
        String name = String.valueOf(function.get("name"));
        Map<String, Object> schema = schema(function.get("parameters"));
        return switch (format.layout()) {
            case JsonObject json -> jsonObject(json, name, schema);
            case Python _ -> python(name, schema);
            case Elements(List<Element> elements) ->
                sequence(elements.stream()
                        .map(element -> element(element, name, schema))
                        .toArray(Shape[]::new));
        };
    }

    private static Map<String, Object> schema(@Nullable Object given) {
        if (!(given instanceof Map<?, ?> map)) {
            return ANY_OBJECT;
        }
        return map.entrySet().stream()
                .filter(entry -> entry.getValue() != null)
                .collect(Collectors.toMap(
                        entry -> String.valueOf(entry.getKey()),
                        Map.Entry::getValue,
                        (one, _) -> one,
                        LinkedHashMap::new));
    }

    private static Shape jsonObject(JsonObject layout, String name, Map<String, Object> schema) {
        if (layout.name().isEmpty()) {
            return sequence(new Literal("{\"" + name + "\": "), new Shape.Json(schema), new Literal("}"));
        }
        String id = layout.id().equals("tool_call_id") ? "\"tool_call_id\": " : "";
        Shape number = new Shape.Json(Map.of("type", "string", "pattern", "^[0-9]{1,3}$"));
        Shape begin = id.isEmpty() ? new Literal("{") : sequence(new Literal("{" + id), number, new Literal(", "));
        return sequence(
                begin,
                new Literal("\"" + layout.name() + "\": \"" + name + "\", \""
                        + layout.arguments().getFirst() + "\": "),
                new Shape.Json(schema),
                new Literal("}"));
    }

    private static Shape python(String name, Map<String, Object> schema) {
        var members = new ArrayList<Member>();
        Set<String> required = required(schema);
        properties(schema)
                .forEach((key, value) -> members.add(new Member(
                        sequence(new Literal(key + "="), new Value(value, Spelling.PYTHON, "")),
                        required.contains(key))));
        return sequence(new Literal(name + "("), new Members(members, ", "), new Literal(")"));
    }

    private Shape element(Element element, String name, Map<String, Object> schema) {
        return switch (element) {
            case Element.Literal(String text) -> new Literal(text);
            case Name(String prefix, String index, String _) ->
                index.isEmpty() ? new Literal(prefix + name) : sequence(new Literal(prefix + name + index), number());
            case Element.Id _ -> new Shape.FreeText(List.of("<", "["));
            case Ignored(String usual) -> new Literal(usual);
            case Maybe _ -> new Literal("");
            case Json(String quote) ->
                quote.isEmpty() ? new Shape.Json(schema) : new Value(schema, Spelling.MARKED, quote);
            case Parameters parameters -> parameters(parameters, schema);
        };
    }

    private static Shape number() {
        return new Shape.Json(Map.of("type", "integer", "minimum", 0, "maximum", 999));
    }

    private static Shape parameters(Parameters layout, Map<String, Object> schema) {
        var members = new ArrayList<Member>();
        Set<String> required = required(schema);
        properties(schema)
                .forEach(
                        (key, value) -> members.add(new Member(parameter(layout, key, value), required.contains(key))));
        return new Members(members, "");
    }

    private static Shape parameter(Parameters layout, String key, Map<String, Object> schema) {
        var branches = new ArrayList<Shape>();
        for (ValueBegin begin : layout.values()) {
            if (fits(begin, schema)) {
                branches.add(sequence(
                        new Literal(layout.begin() + key + layout.keyEnd() + begin.text() + line(layout)),
                        value(begin.type(), schema, line(layout) + layout.end()),
                        new Literal(line(layout) + layout.end())));
            }
        }
        return branches.size() == 1 ? branches.getFirst() : new Choice(branches);
    }

    private static String line(Parameters layout) {
        return layout.onLines() ? "\n" : "";
    }

    /** Whether a value of the schema may follow; a mark that names a type stands before values of that type alone. */
    private static boolean fits(ValueBegin begin, Map<String, Object> schema) {
        boolean isText = "string".equals(schema.get("type"));
        boolean mayBeText = isText || !(schema.get("type") instanceof String);
        if (begin.type() == ValueType.TEXT) {
            return mayBeText;
        }
        boolean namesType = begin.text().startsWith("type=");
        return begin.type() == ValueType.BY_SCHEMA
                || (!isText && (!namesType || mayBeText || begin.text().contains(typeName(schema))));
    }

    private static String typeName(Map<String, Object> schema) {
        return "integer".equals(schema.get("type")) ? "number" : String.valueOf(schema.get("type"));
    }

    private static Shape value(ValueType type, Map<String, Object> schema, String stop) {
        return switch (type) {
            case JSON -> new Shape.Json(schema);
            case TEXT -> new ParameterText(Map.of("type", "string"), stop);
            case BY_SCHEMA -> new ParameterText(schema, stop);
        };
    }

    private static Map<String, Map<String, Object>> properties(Map<String, Object> schema) {
        Map<String, Map<String, Object>> properties = new LinkedHashMap<>();
        if (schema.get("properties") instanceof Map<?, ?> map) {
            map.forEach((key, value) ->
                    properties.put(String.valueOf(key), value instanceof Map<?, ?> ? schema(value) : Map.of()));
        }
        return properties;
    }

    private static Set<String> required(Map<String, Object> schema) {
        return schema.get("required") instanceof List<?> names
                ? names.stream().map(String::valueOf).collect(Collectors.toSet())
                : Set.of();
    }
}
