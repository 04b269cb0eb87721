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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
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
import roselle.grammar.automaton.State;
import roselle.structured.ShapeCompiler;
import roselle.structured.SpecialOctets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** In every format, the parser reads whatever a model writes that is held to calls, and the arguments are as the tools say. */
final class HeldCallsTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int WALKS = 4; // of each of 56 formats: 672 with all ways to call
    private static final int LONG_WALKS = 110; // 18,480
    private static final int LONGEST = 1500;

    private static final List<Map<String, Object>> TOOLS =
            List.of(tool("paint", properties(), List.of("color", "size", "wet")), tool("stop", Map.of(), List.of()));

    private static Map<String, Object> properties() {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("color", Map.of("type", "string"));
        properties.put("size", Map.of("type", "integer", "minimum", -99, "maximum", 999));
        properties.put("wet", Map.of("type", "boolean"));
        properties.put("box", Map.of("type", "array", "maxItems", 2, "items", Map.of("type", "boolean")));
        properties.put("kind", Map.of("$ref", "#/$defs/Kind"));
        properties.put("at", at());
        properties.put("note", Map.of("anyOf", List.of(Map.of("type", "string"), Map.of("type", "null"))));
        return properties;
    }

    private static Map<String, Object> at() {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("x", Map.of("type", "integer", "minimum", 0, "maximum", 9));
        properties.put("name", Map.of("type", "string"));
        return Map.of(
                "type", "object", "properties", properties, "required", List.of("x"), "additionalProperties", false);
    }

    /** How a request has calls come. */
    private enum Choice {
        AUTO,
        REQUIRED,
        NAMED
    }

    private static Map<String, Object> tool(String name, Map<String, Object> properties, List<String> required) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("type", "object");
        parameters.put("properties", properties);
        parameters.put("required", required);
        parameters.put("additionalProperties", false);
        parameters.put("$defs", Map.of("Kind", Map.of("type", "string", "enum", List.of("oil", "water"))));
        return Map.of("type", "function", "function", Map.of("name", name, "strict", true, "parameters", parameters));
    }

    private static Constraint constraint(CallFormat format, Choice choice) {
        var shapes = new CallShapes(format);
        List<Map<String, Object>> tools = choice == Choice.NAMED ? TOOLS.subList(0, 1) : TOOLS;
        return new ShapeCompiler(SpecialOctets.none(), new int[0], format.literals(), GrammarLimits.DEFAULTS)
                .compile(
                        choice == Choice.AUTO
                                ? shapes.textOrCalls(tools, true)
                                : shapes.callsOnly(tools, choice == Choice.REQUIRED, List.of()));
    }

    static Stream<CallFormat> formats() {
        return CallFormats.ALL.stream();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void theParserReadsWhateverIsWritten(CallFormat format) {
        walk(format, WALKS, 20261123);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("formats")
    void theParserReadsWhateverIsWrittenOften(CallFormat format) {
        walk(format, LONG_WALKS, 20261124);
    }

    private static void walk(CallFormat format, int walks, long seed) {
        var random = new Random(seed);
        for (Choice choice : Choice.values()) {
            Constraint constraint = constraint(format, choice);
            int read = 0;
            for (int walk = 0; walk < walks; walk++) {
                boolean isMarked = choice == Choice.AUTO && !format.firstMark().isEmpty();
                String before = isMarked ? "Well, <a> [b] {c}.\n" : "";
                String begun = isMarked ? before + first(format, random) : "";
                String answer = ConversationFormat.plain(walk(constraint, begun, format, random));
                if (!answer.isEmpty()) { // else it grew too long
                    read++;
                    List<Call> calls = requireCalls(format, answer, before.strip());
                    if (choice == Choice.NAMED) {
                        assertThat(calls)
                                .as(answer)
                                .singleElement()
                                .satisfies(call -> assertThat(call.name()).isEqualTo("paint"));
                    }
                }
            }
            assertThat(read).as("answers that ended").isGreaterThanOrEqualTo(walks / 2);
        }
    }

    /** One of the marks that calls begin with. */
    private static String first(CallFormat format, Random random) {
        var marks = new ArrayList<>(format.otherBegins());
        marks.add(format.firstMark());
        return marks.get(random.nextInt(marks.size())).stripLeading();
    }

    private static List<Call> requireCalls(CallFormat format, String answer, String text) {
        List<AnswerPart> whole = parts(format, answer, List.of(answer.length()));
        List<Call> calls = calls(whole);
        assertThat(calls).as(answer).isNotEmpty().allSatisfy(HeldCallsTest::isValid);
        assertThat(said(whole)).as(answer).isEqualTo(text);
        List<Integer> everywhere =
                IntStream.rangeClosed(1, answer.length()).boxed().toList();
        assertThat(calls(parts(format, answer, everywhere))).as(answer).isEqualTo(calls);
        int step = Math.max(1, answer.length() / 16);
        for (int at = 1; at < answer.length(); at += step) {
            assertThat(calls(parts(format, answer, List.of(at, answer.length()))))
                    .as("%s at %s", answer, at)
                    .isEqualTo(calls);
        }
        return calls;
    }

    private static List<AnswerPart> parts(CallFormat format, String answer, List<Integer> ends) {
        var conversation = ConversationFormat.ofText(ThoughtFormat.NONE, format, new Letters(Map.of()));
        var parser = conversation.parser("", TOOLS, false);
        var parts = new ArrayList<AnswerPart>();
        int from = 0;
        for (int end : ends) {
            parts.addAll(parser.append(answer.substring(from, end)));
            from = end;
        }
        parts.addAll(parser.finish(""));
        return parts;
    }

    private static List<Call> calls(List<AnswerPart> parts) {
        return parts.stream()
                .filter(Call.class::isInstance)
                .map(Call.class::cast)
                .map(call -> new Call(call.index(), "", call.name(), call.arguments()))
                .toList();
    }

    private static String said(List<AnswerPart> parts) {
        return parts.stream()
                .filter(AnswerPart.Text.class::isInstance)
                .map(part -> ((AnswerPart.Text) part).text())
                .collect(Collectors.joining())
                .strip();
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
                .isSubsetOf("color", "size", "wet", "box", "kind", "at", "note");
        assertThat(arguments.get("color").isString()).as("%s", arguments).isTrue();
        assertThat(arguments.get("size").canConvertToExactIntegral())
                .as("%s", arguments)
                .isTrue();
        assertThat(arguments.get("wet").isBoolean()).as("%s", arguments).isTrue();
        if (arguments.has("kind")) {
            assertThat(arguments.get("kind").stringValue()).isIn("oil", "water");
        }
        if (arguments.has("note")) {
            assertThat(arguments.get("note").isString() || arguments.get("note").isNull())
                    .as("%s", arguments)
                    .isTrue();
        }
        if (arguments.has("at")) {
            assertThat(arguments.get("at").path("x").isInt())
                    .as("%s", arguments)
                    .isTrue();
            assertThat(arguments.get("at").propertyNames()).isSubsetOf("x", "name");
            assertThat(!arguments.get("at").has("name")
                            || arguments.get("at").get("name").isString())
                    .as("%s", arguments)
                    .isTrue();
        }
        if (arguments.has("box")) {
            assertThat(arguments.get("box").valueStream().allMatch(JsonNode::isBoolean))
                    .isTrue();
        }
    }

    /** A text that the constraint allows, byte by byte; empty where it does not end. */
    private static String walk(Constraint constraint, String begun, CallFormat format, Random random) {
        var text = new ByteArrayOutputStream();
        text.writeBytes(begun.getBytes(StandardCharsets.UTF_8));
        State state = Objects.requireNonNull(after(constraint.start(), text.toByteArray()), begun);
        for (byte letter : format.bareLetters().getBytes(StandardCharsets.UTF_8)) { // else text may begin
            State call = text.size() == 0 ? state.advance(letter) : null;
            if (call != null) {
                text.write(letter);
                state = call;
            }
        }
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
        if (random.nextInt(2) == 0) {
            List<byte[]> ends = Stream.concat(format.literals().stream(), Stream.of("\"", "</parameter>\n"))
                    .map(literal -> literal.getBytes(StandardCharsets.UTF_8))
                    .filter(literal -> after(state, literal) != null)
                    .toList();
            if (!ends.isEmpty()) {
                return ends.get(random.nextInt(ends.size()));
            }
        }
        int first = random.nextInt(256);
        int step = 2 * random.nextInt(128) + 1; // odd, so that all bytes come
        for (int i = 0; i < 256; i++) {
            int octet = (first + i * step) & 0xFF;
            if (state.advance(octet) != null) {
                return new byte[] {(byte) octet};
            }
        }
        return new byte[0];
    }
}
