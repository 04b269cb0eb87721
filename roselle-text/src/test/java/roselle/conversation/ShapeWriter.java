package roselle.conversation;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import roselle.conversation.format.Shape;
import roselle.conversation.format.Shape.Member;
import tools.jackson.databind.json.JsonMapper;

/** Writes random texts of a shape, as a model would that is held to it. */
final class ShapeWriter {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final Random random;

    ShapeWriter(Random random) {
        this.random = random;
    }

    String write(Shape shape) {
        return switch (shape) {
            case Shape.Literal(String text) -> text;
            case Shape.FreeText _ -> "abcdefghi";
            case Shape.Json(Map<String, Object> schema) -> MAPPER.writeValueAsString(value(schema));
            case Shape.Value value -> spelled(value(value.schema()), value);
            case Shape.ParameterText(Map<String, Object> schema, String _) -> {
                Object value = value(schema);
                yield value instanceof String text ? text : MAPPER.writeValueAsString(value);
            }
            case Shape.Sequence(List<Shape> parts) ->
                parts.stream().map(this::write).collect(Collectors.joining());
            case Shape.Choice(List<Shape> branches) -> write(branches.get(random.nextInt(branches.size())));
            case Shape.Repeated repeated ->
                IntStream.range(0, Math.min(repeated.most(), repeated.least() + random.nextInt(3)))
                        .mapToObj(_ -> write(repeated.part()))
                        .collect(Collectors.joining(repeated.separator()));
            case Shape.Members(List<Member> members, String separator) ->
                members.stream()
                        .filter(member -> member.isRequired() || random.nextBoolean())
                        .map(member -> write(member.shape()))
                        .collect(Collectors.joining(separator));
            case Shape.Content _ -> "{}";
            case Shape.Triggered triggered -> {
                Shape.Mark mark =
                        triggered.marks().get(random.nextInt(triggered.marks().size()));
                yield "Text.\n" + mark.text() + write(mark.then());
            }
        };
    }

    private Object value(Map<String, Object> schema) {
        if (schema.containsKey("pattern")) {
            return "7";
        }
        return switch (String.valueOf(schema.get("type"))) {
            case "string" ->
                List.of("Oslo", "a \"b\" <c>", "1", "true", "{x}", "Å😀").get(random.nextInt(6));
            case "integer" -> random.nextInt(1000);
            case "boolean" -> random.nextBoolean();
            case "array" -> List.of(1, random.nextInt(9));
            default -> object(schema);
        };
    }

    @SuppressWarnings("unchecked") // schemas of tests are JSON
    private Object object(Map<String, Object> schema) {
        var properties = (Map<String, Map<String, Object>>) schema.getOrDefault("properties", Map.of());
        var object = new java.util.LinkedHashMap<String, Object>();
        properties.forEach((key, value) -> object.put(key, value(value)));
        return object;
    }

    private static String spelled(Object value, Shape.Value shape) {
        return switch (shape.spelling()) {
            case PYTHON ->
                switch (value) {
                    case Boolean flag -> flag ? "True" : "False";
                    default -> MAPPER.writeValueAsString(value);
                };
            case MARKED -> marked(value, shape.quote());
        };
    }

    private static String marked(Object value, String quote) {
        return switch (value) {
            case String text -> quote + text + quote;
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(entry -> entry.getKey() + ":" + marked(entry.getValue(), quote))
                        .collect(Collectors.joining(",", "{", "}"));
            case List<?> list ->
                list.stream().map(each -> marked(each, quote)).collect(Collectors.joining(",", "[", "]"));
            default -> String.valueOf(value);
        };
    }
}
