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
import roselle.conversation.format.Shape.Mark;
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
    static final List<String> JSON_TYPES = List.of("object", "array", "number", "boolean", "null");

    private final CallFormat format;

    public CallShapes(CallFormat format) {
        this.format = format;
    }

    /**
     * An answer that is text until it calls: behind the first mark of a call it is calls and nothing else.
     *
     * @param tools in the JSON form of OpenAI's {@code tools}
     * @param isParallel whether there may be several calls
     */
    public Shape textOrCalls(List<Map<String, Object>> tools, boolean isParallel) {
        return answer(marks(tools, isParallel), List.of(), tools, isParallel, false);
    }

    /**
     * An answer that calls, and does nothing else but what its channels say before.
     *
     * @param channels marks of channels in which an answer's text stands; none of most models
     */
    public Shape callsOnly(List<Map<String, Object>> tools, boolean isParallel, List<String> channels) {
        return channels.isEmpty()
                ? calls(tools, isParallel)
                : answer(marks(tools, isParallel), channels, tools, isParallel, true);
    }

    /** An answer that calls, or else is the {@link Shape.Content} that the request wants. */
    public Shape contentOrCalls(List<Map<String, Object>> tools, boolean isParallel, List<String> channels) {
        if (channels.isEmpty()) {
            return new Choice(List.of(new Shape.Content(), calls(tools, isParallel)));
        }
        List<Mark> marks = marks(tools, isParallel);
        channels.forEach(channel -> marks.add(new Mark(channel, new Shape.Content())));
        return answer(marks, List.of(), tools, isParallel, true);
    }

    private Shape answer(
            List<Mark> marks,
            List<String> channels,
            List<Map<String, Object>> tools,
            boolean isParallel,
            boolean mustCome) {
        var excluded = new ArrayList<>(channels);
        excluded.addAll(format.beginMarks());
        List<Shape> atOnce = format.isBare() ? List.of(calls(tools, isParallel)) : List.of();
        return new Triggered(marks, excluded, atOnce, format.bareLetters(), mustCome);
    }

    /** The marks with which calls begin, however spelled, and the calls behind each. */
    private List<Mark> marks(List<Map<String, Object>> tools, boolean isParallel) {
        var marks = new ArrayList<Mark>();
        for (CallFormat spelling : format.spellings()) {
            String mark = spelling.firstMark();
            if (!mark.isEmpty()) {
                marks.add(new Mark(mark, behind(mark, new CallShapes(spelling).calls(tools, isParallel))));
            }
        }
        return marks;
    }

    /** What is left of a shape behind a mark in its first literal. */
    private static Shape behind(String mark, Shape shape) {
        return switch (shape) {
            case Literal(String text)
            when text.contains(mark) -> new Literal(text.substring(text.indexOf(mark) + mark.length()));
            case Sequence(List<Shape> parts) -> {
                var rest = new ArrayList<>(parts);
                rest.set(0, behind(mark, parts.getFirst()));
                yield new Sequence(rest);
            }
            case Repeated repeated -> behindFirst(mark, repeated);
            case Choice(List<Shape> branches) ->
                new Choice(branches.stream().map(branch -> behind(mark, branch)).toList());
            default -> throw new IllegalArgumentException("calls do not begin with " + mark);
        };
    }

    /** The first time without the mark, then as often as before. */
    private static Shape behindFirst(String mark, Repeated repeated) {
        Shape first = behind(mark, repeated.part());
        if (repeated.most() == 1) {
            return first;
        }
        Shape further = sequence(new Literal(repeated.separator()), repeated.part());
        return new Sequence(List.of(first, new Repeated(further, "", 0, Integer.MAX_VALUE)));
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

    /** Whether arguments are written one by one, by the properties that a tool's schema names. */
    public boolean writesProperties() {
        return switch (format.layout()) {
            case JsonObject _ -> false;
            case Python _ -> true;
            case Elements(List<Element> elements) ->
                elements.stream()
                        .anyMatch(element -> element instanceof Parameters
                                || element instanceof Element.Tags
                                || element instanceof Element.Values);
        };
    }

    /** Whether it can be told from its beginning that an answer calls. */
    public boolean isMarked() {
        return format.isBare() || !format.firstMark().isEmpty();
    }

    /** The arguments of a call alone, in a format that {@link #writesProperties writes properties} between marks. */
    public Shape arguments(Map<String, Object> schema) {
        return format.layout() instanceof Elements(List<Element> elements)
                ? elements.stream()
                        .filter(Parameters.class::isInstance)
                        .map(element -> parameters((Parameters) element, schema))
                        .findFirst()
                        .orElseThrow()
                : new Shape.Json(schema);
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
            case Element.Id _ -> format.ids() == CallIds.INDEX ? number() : new Shape.FreeText(List.of("<", "["));
            case Ignored(String usual) -> new Literal(usual);
            case Maybe(String literal, Element then) ->
                then instanceof Ignored(String usual)
                        ? new Choice(List.of(new Literal(""), new Literal(" " + literal + usual)))
                        : new Literal("");
            case Json(String quote) ->
                quote.isEmpty() ? new Shape.Json(schema) : new Value(schema, Spelling.MARKED, quote);
            case Parameters parameters -> parameters(parameters, schema);
            case Element.Tags(String namespace) -> new TagShapes(namespace).members(schema, 0);
            case Element.Values values -> new ValueShapes(values).members(schema, 0);
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
            for (Shape value : values(begin, schema, line(layout) + layout.end())) {
                branches.add(sequence(
                        new Literal(layout.begin() + key + layout.keyEnd() + begin.text() + line(layout)),
                        value,
                        new Literal(line(layout) + layout.end())));
            }
        }
        return branches.size() == 1 ? branches.getFirst() : new Choice(branches);
    }

    private static String line(Parameters layout) {
        return layout.onLines() ? "\n" : "";
    }

    /** The values that may follow what a value begins with; a mark that names a type stands before values of that type alone. */
    private static List<Shape> values(ValueBegin begin, Map<String, Object> schema, String stop) {
        if (begin.type() == ValueType.BY_SCHEMA) {
            return List.of(new ParameterText(schema, stop));
        }
        boolean isText = begin.type() == ValueType.TEXT;
        List<String> types = isText
                ? List.of("string")
                : JSON_TYPES.stream().filter(begin::mayBe).toList();
        var values = new ArrayList<Shape>();
        for (Map<String, Object> kind : ParameterKinds.of(schema)) {
            Map<String, Object> typed = ParameterKinds.ofTypes(kind, types);
            if (!typed.isEmpty()) {
                values.add(isText ? new ParameterText(text(typed), stop) : new Shape.Json(typed));
            }
        }
        return values;
    }

    private static Map<String, Object> text(Map<String, Object> kind) {
        Map<String, Object> text = new LinkedHashMap<>(kind);
        text.put("type", "string");
        return text;
    }

    private static Map<String, Map<String, Object>> properties(Map<String, Object> schema) {
        Map<String, Map<String, Object>> properties = new LinkedHashMap<>();
        if (schema.get("properties") instanceof Map<?, ?> map) {
            map.forEach((key, value) -> properties.put(String.valueOf(key), property(value, schema)));
        }
        return properties;
    }

    /** The schema of a property with the definitions that it may refer to. */
    private static Map<String, Object> property(@Nullable Object given, Map<String, Object> schema) {
        Map<String, Object> property = new LinkedHashMap<>(given instanceof Map<?, ?> ? schema(given) : Map.of());
        for (String definitions : List.of("$defs", "definitions")) {
            if (schema.get(definitions) instanceof Map<?, ?> map) {
                property.putIfAbsent(definitions, map);
            }
        }
        return property;
    }

    private static Set<String> required(Map<String, Object> schema) {
        return schema.get("required") instanceof List<?> names
                ? names.stream().map(String::valueOf).collect(Collectors.toSet())
                : Set.of();
    }
}
