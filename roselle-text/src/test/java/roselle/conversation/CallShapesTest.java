package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.CallShapes;
import roselle.conversation.format.Shape;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a format's shape allows is what its parser reads: both are made from one description. */
final class CallShapesTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final Map<String, String> TYPES = types();

    private static final List<Map<String, Object>> TOOLS = List.of(tool("paint", TYPES), tool("stop", Map.of()));

    private static Map<String, String> types() {
        Map<String, String> types = new LinkedHashMap<>();
        types.put("color", "string");
        types.put("size", "integer");
        types.put("wet", "boolean");
        types.put("box", "array");
        return types;
    }

    private static Map<String, Object> tool(String name, Map<String, String> types) {
        Map<String, Object> properties = new LinkedHashMap<>();
        types.forEach((parameter, type) -> properties.put(parameter, Map.of("type", type)));
        Map<String, Object> parameters =
                Map.of("type", "object", "properties", properties, "required", List.copyOf(types.keySet()));
        return Map.of("type", "function", "function", Map.of("name", name, "parameters", parameters));
    }

    static Stream<String> formats() {
        return CallFormats.ALL.stream().map(CallFormat::name);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void theParserReadsEveryAnswerOfItsShape(String name) {
        CallFormat format = CallFormats.named(name).orElseThrow();
        var conversation = ConversationFormat.ofText(ThoughtFormat.NONE, format, new Letters(Map.of()));
        var random = new Random(20261123);
        Shape shape = new CallShapes(format).calls(TOOLS, true);
        for (int round = 0; round < 20; round++) {
            String answer = new ShapeWriter(random).write(shape);
            var parser = conversation.parser("", TOOLS, false);
            var parts = new ArrayList<AnswerPart>(parser.append(answer));
            parts.addAll(parser.finish(""));

            assertThat(parts).as(answer).noneMatch(AnswerPart.Text.class::isInstance);
            List<Call> calls = parts.stream()
                    .filter(Call.class::isInstance)
                    .map(Call.class::cast)
                    .toList();
            assertThat(calls).as(answer).isNotEmpty().allSatisfy(CallShapesTest::isValid);
        }
    }

    private static void isValid(Call call) {
        JsonNode arguments = MAPPER.readTree(call.arguments());
        assertThat(call.name()).isIn("paint", "stop");
        if (call.name().equals("stop")) {
            assertThat(arguments).isEmpty();
            return;
        }
        assertThat(arguments.propertyNames()).containsExactlyElementsOf(TYPES.keySet());
        assertThat(arguments.get("color").isString()).isTrue();
        assertThat(arguments.get("size").isIntegralNumber()).isTrue();
        assertThat(arguments.get("wet").isBoolean()).isTrue();
        assertThat(arguments.get("box").isArray()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void oneCallAloneIsOneCall(String name) {
        var shape = new CallShapes(CallFormats.named(name).orElseThrow()).calls(TOOLS.subList(1, 2), false);

        String answer = new ShapeWriter(new Random(1)).write(shape);

        assertThat(answer.split("stop", -1)).hasSize(2);
    }
}
