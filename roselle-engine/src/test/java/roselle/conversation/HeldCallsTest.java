package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.CallShapes;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.structured.ShapeCompiler;
import roselle.structured.SpecialOctets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** In every format, the parser reads whatever a model writes that is held to calls, and the arguments are as the tools say. */
final class HeldCallsTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int WALKS = 10;
    private static final int LONGEST = 4000;

    private static final List<Map<String, Object>> TOOLS =
            List.of(tool("paint", properties(), List.of("color", "size", "wet")), tool("stop", Map.of(), List.of()));

    private static Map<String, Object> properties() {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("color", Map.of("type", "string"));
        properties.put("size", Map.of("type", "integer", "minimum", -99, "maximum", 999));
        properties.put("wet", Map.of("type", "boolean"));
        properties.put("box", Map.of("type", "array", "maxItems", 2, "items", Map.of("type", "boolean")));
        return properties;
    }

    private static Map<String, Object> tool(String name, Map<String, Object> properties, List<String> required) {
        Map<String, Object> parameters =
                Map.of("type", "object", "properties", properties, "required", required, "additionalProperties", false);
        return Map.of("type", "function", "function", Map.of("name", name, "parameters", parameters));
    }

    /** Formats whose values are spelled in ways of their own. */
    private static final Set<String> NOT_HELD =
            Set.of("gemma4", "functiongemma", "llama4_pythonic", "olmo3", "lfm2", "gemma3", "pythonic");

    private static Constraint constraint(CallFormat format, boolean isParallel) {
        return new ShapeCompiler(SpecialOctets.none(), new int[0], format.literals(), GrammarLimits.DEFAULTS)
                .compile(new CallShapes(format).calls(TOOLS, isParallel));
    }

    private static boolean isHeld(CallFormat format) {
        try {
            constraint(format, true);
            return true;
        } catch (GrammarException _) {
            return false;
        }
    }

    static Stream<CallFormat> formats() {
        return CallFormats.ALL.stream().filter(HeldCallsTest::isHeld);
    }

    @Test
    void mostFormatsAreHeld() {
        assertThat(CallFormats.ALL.stream().filter(format -> !isHeld(format)).map(CallFormat::name))
                .containsExactlyInAnyOrderElementsOf(NOT_HELD);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void theParserReadsWhateverIsWritten(CallFormat format) {
        var conversation = ConversationFormat.ofText(ThoughtFormat.NONE, format, new Letters(Map.of()));
        Constraint constraint = constraint(format, true);
        var random = new Random(20261123);
        int read = 0;
        for (int walk = 0; walk < WALKS; walk++) {
            String answer = walk(constraint, format, random);
            if (answer.isEmpty()) {
                continue; // it grew too long
            }
            read++;
            var parser = conversation.parser("", TOOLS, false);
            var parts = new ArrayList<AnswerPart>(parser.append(answer));
            parts.addAll(parser.finish(""));
            List<Call> calls = parts.stream()
                    .filter(Call.class::isInstance)
                    .map(Call.class::cast)
                    .toList();
            assertThat(calls).as(answer).isNotEmpty().allSatisfy(HeldCallsTest::isValid);
            assertThat(parts).as(answer).noneMatch(AnswerPart.Text.class::isInstance);
        }
        assertThat(read).as("answers that ended").isGreaterThan(WALKS / 2);
    }

    private static void isValid(Call call) {
        JsonNode arguments = MAPPER.readTree(call.arguments());
        assertThat(call.name()).isIn("paint", "stop");
        if (call.name().equals("stop")) {
            assertThat(arguments).isEmpty();
            return;
        }
        assertThat(arguments.propertyNames())
                .contains("color", "size", "wet")
                .isSubsetOf("color", "size", "wet", "box");
        assertThat(arguments.get("color").isString()).as("%s", arguments).isTrue();
        assertThat(arguments.get("size").canConvertToExactIntegral())
                .as("%s", arguments)
                .isTrue();
        assertThat(arguments.get("wet").isBoolean()).as("%s", arguments).isTrue();
        if (arguments.has("box")) {
            assertThat(arguments.get("box").valueStream().allMatch(JsonNode::isBoolean))
                    .isTrue();
        }
    }

    /** A text that the constraint allows, byte by byte; empty where it does not end. */
    private static String walk(Constraint constraint, CallFormat format, Random random) {
        var text = new ByteArrayOutputStream();
        State state = constraint.start();
        while (text.size() < LONGEST) {
            if (state.isAccepting() && random.nextInt(3) == 0) {
                return text.toString(StandardCharsets.UTF_8);
            }
            byte[] next = next(state, format, random);
            if (next.length == 0) {
                assertThat(state.isAccepting()).as("a dead end behind %s", text).isTrue();
                return text.toString(StandardCharsets.UTF_8);
            }
            text.writeBytes(next);
            state = Objects.requireNonNull(after(state, next));
        }
        return "";
    }

    private static @Nullable State after(State state, byte[] octets) {
        @Nullable State behind = state;
        for (byte octet : octets) {
            behind = behind == null ? null : behind.advance(octet & 0xFF);
        }
        return behind;
    }

    /** Often what ends a text, else any byte. */
    private static byte[] next(State state, CallFormat format, Random random) {
        List<byte[]> ends = Stream.concat(format.literals().stream(), Stream.of("\"", "</parameter>\n"))
                .map(literal -> literal.getBytes(StandardCharsets.UTF_8))
                .filter(literal -> after(state, literal) != null)
                .collect(Collectors.toList());
        if (!ends.isEmpty() && random.nextInt(2) == 0) {
            return ends.get(random.nextInt(ends.size()));
        }
        int[] octets = random.ints(0, 256).distinct().limit(256).toArray();
        for (int octet : octets) {
            if (state.advance(octet) != null) {
                return new byte[] {(byte) octet};
            }
        }
        return new byte[0];
    }
}
