package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.AnswerPart.Text;
import roselle.conversation.AnswerPart.Thought;
import roselle.conversation.ConversationFormat.Mark;
import roselle.conversation.ConversationFormat.Marks;
import roselle.tokenizer.format.TokenizerFixture;

final class AnswerParserTest {
    private static final int TEXT = 100;
    private static final int THINKS = 1;
    private static final int THOUGHT = 2;
    private static final int CALLS = 3;
    private static final int CALLED = 4;

    /** As in a vocabulary where the marks are special tokens. */
    private static final ConversationFormat SPECIAL =
            format(new Marks(new Mark(THINKS, ""), new Mark(THOUGHT, "")), new Marks(new Mark(CALLS, ""), Mark.NONE));

    /** As in one where they are part of the text. */
    private static final ConversationFormat SPELLED = format(
            new Marks(new Mark(THINKS, "<think>"), new Mark(THOUGHT, "</think>")),
            new Marks(new Mark(CALLS, "<tool_call>"), new Mark(CALLED, "</tool_call>")));

    private static ConversationFormat format(Marks thoughts, Marks calls) {
        return new ConversationFormat(List.of(), thoughts, calls, new JsonCalls());
    }

    private final List<AnswerPart> parts = new ArrayList<>();

    @Test
    void takesThoughtsApart() {
        var parser = new AnswerParser(SPECIAL, false, false);

        add(parser, THINKS, "");
        add(parser, TEXT, "2 + 2");
        add(parser, THOUGHT, "");
        add(parser, TEXT, "4");

        assertThat(parts).containsExactly(new Thought("2 + 2"), new Text("4"));
        assertThat(parser.thoughtTokens()).isEqualTo(2);
    }

    @Test
    void goesOnWithAThoughtThatThePromptBegan() {
        var parser = new AnswerParser(SPECIAL, false, SPECIAL.endsInThought(new int[] {TEXT, THINKS}));

        add(parser, TEXT, "hm");

        assertThat(parts).containsExactly(new Thought("hm"));
        assertThat(SPECIAL.endsInThought(new int[] {THINKS, THOUGHT, TEXT})).isFalse();
    }

    @Test
    void tellsCallsWhenTheyAreComplete() {
        var parser = new AnswerParser(SPECIAL, true, false);

        add(parser, TEXT, "Let me see.");
        add(parser, CALLS, "");
        add(parser, TEXT, "{\"name\": \"f\", \"argu");
        assertThat(parts).hasSize(1);
        add(parser, TEXT, "ments\": {\"a\": 1}}");
        add(parser, CALLS, "");
        add(parser, TEXT, "{\"name\":\"g\"}");
        parts.addAll(parser.finish(""));

        assertThat(parts)
                .containsExactly(new Text("Let me see."), new Call(0, "f", "{\"a\":1}"), new Call(1, "g", "{}"));
    }

    @Test
    void leavesOutMarksThatAreText() {
        var parser = new AnswerParser(SPELLED, true, false);

        add(parser, THINKS, "<think>");
        add(parser, TEXT, "hm");
        add(parser, THOUGHT, "</think>");
        add(parser, TEXT, "so ");
        add(parser, CALLS, "<tool_call>");
        add(parser, TEXT, "\n{\"name\":\"f\",\"arguments\":\"{}\"}\n");
        add(parser, CALLED, "</tool_call>");
        parts.addAll(parser.finish("end"));

        assertThat(parts).containsExactly(new Thought("hm"), new Text("so "), new Call(0, "f", "{}"), new Text("end"));
    }

    @Test
    void takesAnArrayOfCalls() {
        var parser = new AnswerParser(SPECIAL, true, false);

        add(parser, CALLS, "");
        parts.addAll(parser.finish("[{\"name\":\"f\",\"parameters\":{}},{\"name\":\"g\"}]"));

        assertThat(parts).containsExactly(new Call(0, "f", "{}"), new Call(1, "g", "{}"));
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
                "{\"name\":\"f\"} x",
                "[{\"name\":\"f\"},2]",
                "{\"name\":\"\\ud800\"}")) {
            var parser = new AnswerParser(SPECIAL, true, false);
            parts.clear();

            add(parser, CALLS, "");
            parts.addAll(parser.finish(written));

            assertThat(parts).containsExactly(new Text(written));
        }
    }

    @Test
    void takesMarkedCallsForTextWhereThereIsNothingToCall() {
        var parser = new AnswerParser(SPECIAL, false, false);

        add(parser, CALLS, "");
        add(parser, TEXT, "{\"name\":\"f\"}");

        assertThat(parts).containsExactly(new Text("{\"name\":\"f\"}"));
    }

    private void add(AnswerParser parser, int id, String text) {
        parts.addAll(parser.append(id, text));
    }

    @Test
    void losesNothingOfMarkedTextWhateverTheTokens() {
        var random = new Random(20261122);
        for (int round = 0; round < 2_000; round++) {
            var parser = new AnswerParser(SPELLED, random.nextBoolean(), random.nextBoolean());
            var written = new StringBuilder();
            parts.clear();
            for (int count = random.nextInt(12); count > 0; count--) {
                switch (random.nextInt(4)) {
                    case 0 -> add(parser, THINKS, "<think>");
                    case 1 -> add(parser, THOUGHT, "</think>");
                    default -> {
                        String text = "t" + count + random.nextInt(100) + ";";
                        written.append(text);
                        add(parser, random.nextInt(5), marked(text, random));
                    }
                }
            }
            parts.addAll(parser.finish(""));

            String told = parts.stream().map(AnswerParserTest::text).collect(Collectors.joining());
            assertThat(told.replaceAll("</?(think|tool_call)>", "")).isEqualTo(written.toString());
        }
    }

    /** A token's text, which may hold a mark that came late, in its middle too. */
    private static String marked(String text, Random random) {
        List<String> marks = List.of("", "<think>", "</think>", "<tool_call>", "</tool_call>");
        return text.charAt(0) + marks.get(random.nextInt(marks.size())) + text.substring(1);
    }

    private static String text(AnswerPart part) {
        return switch (part) {
            case Text text -> text.text();
            case Thought thought -> thought.text();
            case Call call -> throw new AssertionError("nothing was written as a call: " + call);
        };
    }

    @Test
    void tellsTextBehindAMarkWithTheNextToken() {
        var parser = new AnswerParser(SPELLED, false, true);

        add(parser, THOUGHT, "hm</think>so");
        assertThat(parts).containsExactly(new Thought("hm"));
        add(parser, TEXT, " be");
        parts.addAll(parser.finish(" it"));

        assertThat(parts).containsExactly(new Thought("hm"), new Text("so be"), new Text(" it"));
    }

    @Test
    void knowsTheFormatOfAVocabulary() {
        var tokenizer = TokenizerFixture.ours(TokenizerFixture.json("qwen2"));
        var format = ConversationFormat.of(tokenizer);
        assertThat(format.thoughts().begin())
                .isEqualTo(new Mark(tokenizer.idOf("<think>").orElseThrow(), "<think>"));
        assertThat(format.thoughts().end()).isEqualTo(Mark.NONE);
        assertThat(format.calls().begin().text()).isEqualTo("<tool_call>");
        assertThat(format.endTokens())
                .containsExactlyInAnyOrder(
                        tokenizer.idOf("<|endoftext|>").orElseThrow(),
                        tokenizer.idOf("<|im_end|>").orElseThrow());
    }
}
