package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.AnswerPart.CallDelta;
import roselle.conversation.AnswerPart.CallStarted;
import roselle.conversation.AnswerPart.Text;
import roselle.conversation.AnswerPart.Thought;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;

final class AnswerParserTest {
    private static final List<Map<String, Object>> TOOLS =
            List.of(Map.of("type", "function", "function", Map.of("name", "f")));

    private final List<AnswerPart> parts = new ArrayList<>();

    private static AnswerParser parser(String calls, boolean mayCall, boolean isThinking) {
        var thoughts = ThoughtFormat.named("think").orElseThrow();
        return ConversationFormat.ofText(thoughts, format(calls), new Letters(Map.of()))
                .parser("", mayCall ? TOOLS : List.of(), isThinking);
    }

    private static CallFormat format(String name) {
        return CallFormats.named(name).orElseThrow();
    }

    private void add(AnswerParser parser, String... tokens) {
        for (String token : tokens) {
            parts.addAll(parser.append(token));
        }
    }

    @Test
    void takesThoughtsApart() {
        var parser = parser("hermes", false, false);

        add(parser, "<think>", "2 + 2", "</think>", "4");

        assertThat(parts).containsExactly(new Thought("2 + 2"), new Text("4"));
        assertThat(parser.thoughtTokens()).isEqualTo(2);
    }

    @Test
    void goesOnWithAThoughtThatThePromptBegan() {
        var parser = parser("hermes", false, true);

        add(parser, "hm");

        assertThat(parts).containsExactly(new Thought("hm"));
    }

    @Test
    void tellsArgumentsWhileTheyCome() {
        var parser = parser("hermes", true, false);

        add(parser, "Let me see.", "<tool_call>", "\n{\"name\": \"f\", \"argu", "ments\": {\"a");
        assertThat(parts).hasSize(3);
        add(parser, "\": 1", "}", "}\n", "</tool_call>");
        String id = ((CallStarted) parts.get(1)).id();

        assertThat(parts)
                .containsExactly(
                        new Text("Let me see."),
                        new CallStarted(0, id, "f"),
                        new CallDelta(0, "{\"a"),
                        new CallDelta(0, "\": "),
                        new CallDelta(0, "1}"),
                        new Call(0, id, "f", "{\"a\": 1}"));
        assertThat(id).matches("call_[0-9a-f]{24}");
    }

    @Test
    void tellsACallThatTheAnswerEndsWithin() {
        var parser = parser("hermes", true, false);

        add(parser, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 12");
        parts.addAll(parser.finish("3"));

        assertThat(parts.getLast()).isEqualTo(new Call(0, ((CallStarted) parts.getFirst()).id(), "f", "{\"a\": 123"));
    }

    @Test
    void goesOnAsWrittenWhereArgumentsAreNoJson() {
        var parser = parser("hermes", true, false);

        add(parser, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": what}}\n</tool_call> then");

        assertThat(calls()).containsExactly("f {\"a\": what}}\n");
        assertThat(parts.getLast()).isEqualTo(new Text(" then"));
    }

    @Test
    void keepsAsTextWhatIsNoCall() {
        for (String written : List.of(
                "{\"name\": \"f\", \"arg",
                "[1]",
                "{}",
                "f(x)",
                "{\"name\":1}",
                "null",
                " ",
                "{\"name\":\"\\ud800\"}")) {
            var parser = parser("hermes", true, false);
            parts.clear();

            add(parser, "<tool_call>");
            parts.addAll(parser.finish(written));

            assertThat(parts).containsExactly(new Text(written));
        }
    }

    @Test
    void keepsTheTextBehindACall() {
        var parser = parser("mistral", true, false);

        add(parser, "[TOOL_CALLS][{\"name\":\"f\"},2] x");

        assertThat(calls()).containsExactly("f {}");
        assertThat(texts()).isEqualTo(",2] x");
    }

    @Test
    void takesMarkedCallsForTextWhereThereIsNothingToCall() {
        var parser = parser("hermes", false, false);

        add(parser, "<tool_call>", "{\"name\":\"f\"}");

        assertThat(texts()).isEqualTo("<tool_call>{\"name\":\"f\"}");
    }

    @Test
    void anAnswerInJsonIsNoCallOfAnUnknownTool() {
        var parser = parser("llama3_json", true, false);

        add(parser, "{\"name\": \"nobody\",");

        assertThat(texts()).isEqualTo("{\"name\": \"nobody\",");
    }

    @Test
    void givesIdsAsTheFormatHasThem() {
        for (String[] sample : new String[][] {
            {"mistral", "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}]", "[A-Za-z0-9]{9}"},
            {"mistral_args", "[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{}", "abcdefghi"},
            {
                "kimi_k2",
                "<|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{}<|tool_call_end|>",
                "functions\\.f:3"
            },
            {
                "cohere_command3",
                "<|START_ACTION|>[{\"tool_call_id\": \"7\", \"tool_name\": \"f\", \"parameters\": {}}]<|END_ACTION|>",
                "7"
            }
        }) {
            parts.clear();
            var parser = parser(sample[0], true, false);
            add(parser, sample[1]);

            assertThat(parts.getLast())
                    .isInstanceOfSatisfying(
                            Call.class, call -> assertThat(call.id()).matches(sample[2]));
        }
    }

    @Test
    void losesNothingOfTextBetweenMarks() {
        var random = new Random(20261122);
        for (int round = 0; round < 2_000; round++) {
            var parser = parser("hermes", random.nextBoolean(), random.nextBoolean());
            var written = new StringBuilder();
            parts.clear();
            for (int count = random.nextInt(12); count > 0; count--) {
                if (random.nextInt(2) == 0) {
                    add(parser, mark(random));
                } else {
                    String text = "t" + count + random.nextInt(100) + ";";
                    written.append(text);
                    add(parser, text.charAt(0) + mark(random) + text.substring(1));
                }
            }
            parts.addAll(parser.finish(""));

            assertThat(texts().replaceAll("</?(think|tool_call)>", "")).isEqualTo(written.toString());
        }
    }

    private static String mark(Random random) {
        List<String> marks = List.of("", "<think>", "</think>", "<tool_call>", "</tool_call>");
        return marks.get(random.nextInt(marks.size()));
    }

    /** Random pieces of a format's own letters: nothing but its marks and the space around them may be missing. */
    @ParameterizedTest
    @ValueSource(
            strings = {"hermes", "qwen3_coder", "mistral_args", "deepseek_v3", "openai", "pythonic", "gemma4", "kimi_k3"
            })
    void neverFailsAndNeverTellsAMark(String name) {
        var random = new Random(20261123);
        var literals = ConversationFormatLiterals.of(ThoughtFormat.NONE, format(name));
        literals.addAll(
                List.of("f", "{", "}", "\"", "\\", ":", ",", "[", "]", "(", ")", "=", "1", "a", " ", "\n", "é"));
        for (int round = 0; round < 500; round++) {
            var parser = parser(name, true, random.nextBoolean());
            parts.clear();
            for (int count = random.nextInt(40); count > 0; count--) {
                add(parser, literals.get(random.nextInt(literals.size())));
            }
            parts.addAll(parser.finish(""));

            long started = parts.stream().filter(CallStarted.class::isInstance).count();
            assertThat(calls()).hasSize((int) started);
            for (String mark : format(name).beginMarks()) {
                assertThat(parts).noneMatch(part -> part instanceof Text(String text) && text.contains(mark));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<tool_call>",
                "<tool_call>{\"a\":\"",
                "<tool_call>{\"a\":[",
                "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"",
                "<tool_call>{\" , \"a\" : \"",
                "<",
                "<think>",
                "{\"a\":",
                "\n"
            })
    void worksNoMoreForEachCharacterOfALongAnswer(String piece) {
        String answer = piece.repeat(20_000 / piece.length());
        for (String format : List.of("hermes", "qwen3_coder", "llama3_json", "mistral")) {
            var parser = parser(format, true, false);
            parser.append(answer);
            parser.finish("");

            assertThat(parser.work()).as(format).isLessThan(5L * answer.length() + 1_000);
        }
    }

    private List<String> calls() {
        return parts.stream()
                .filter(Call.class::isInstance)
                .map(Call.class::cast)
                .map(call -> call.name() + " " + call.arguments())
                .toList();
    }

    private String texts() {
        return parts.stream().map(AnswerParserTest::text).collect(Collectors.joining());
    }

    private static String text(AnswerPart part) {
        return switch (part) {
            case Text text -> text.text();
            case Thought thought -> thought.text();
            case CallStarted _, CallDelta _, Call _ -> "";
        };
    }
}
