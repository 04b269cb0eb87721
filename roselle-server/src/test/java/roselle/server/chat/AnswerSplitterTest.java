package roselle.server.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerPiece.Content;
import roselle.server.chat.AnswerPiece.Thought;
import roselle.server.chat.Markers.Marker;

final class AnswerSplitterTest {
    private static final int TEXT = 100;
    private static final int THINKS = 1;
    private static final int THOUGHT = 2;
    private static final int CALLS = 3;
    private static final int CALLED = 4;

    /** As in a vocabulary where the marks are special tokens. */
    private static final Markers SPECIAL =
            new Markers(new Marker(THINKS, ""), new Marker(THOUGHT, ""), new Marker(CALLS, ""), Marker.NONE);

    /** As in one where they are part of the text. */
    private static final Markers SPELLED = new Markers(
            new Marker(THINKS, "<think>"),
            new Marker(THOUGHT, "</think>"),
            new Marker(CALLS, "<tool_call>"),
            new Marker(CALLED, "</tool_call>"));

    private final List<AnswerPiece> pieces = new ArrayList<>();

    @Test
    void takesThoughtsApart() {
        var splitter = new AnswerSplitter(SPECIAL, false, false);

        add(splitter, THINKS, "");
        add(splitter, TEXT, "2 + 2");
        add(splitter, THOUGHT, "");
        add(splitter, TEXT, "4");

        assertThat(pieces).containsExactly(new Thought("2 + 2"), new Content("4"));
        assertThat(splitter.thoughtTokens()).isEqualTo(2);
    }

    @Test
    void goesOnWithAThoughtThatThePromptBegan() {
        var splitter = new AnswerSplitter(SPECIAL, false, SPECIAL.isThinking(new int[] {TEXT, THINKS}));

        add(splitter, TEXT, "hm");

        assertThat(pieces).containsExactly(new Thought("hm"));
        assertThat(SPECIAL.isThinking(new int[] {THINKS, THOUGHT, TEXT})).isFalse();
    }

    @Test
    void tellsCallsWhenTheyAreComplete() {
        var splitter = new AnswerSplitter(SPECIAL, true, false);

        add(splitter, TEXT, "Let me see.");
        add(splitter, CALLS, "");
        add(splitter, TEXT, "{\"name\": \"f\", \"argu");
        assertThat(pieces).hasSize(1);
        add(splitter, TEXT, "ments\": {\"a\": 1}}");
        add(splitter, CALLS, "");
        add(splitter, TEXT, "{\"name\":\"g\"}");
        pieces.addAll(splitter.finish(""));

        assertThat(pieces)
                .containsExactly(new Content("Let me see."), new Call(0, "f", "{\"a\":1}"), new Call(1, "g", "{}"));
        assertThat(splitter.hasCalled()).isTrue();
    }

    @Test
    void leavesOutMarksThatAreText() {
        var splitter = new AnswerSplitter(SPELLED, true, false);

        add(splitter, THINKS, "<think>");
        add(splitter, TEXT, "hm");
        add(splitter, THOUGHT, "</think>");
        add(splitter, TEXT, "so ");
        add(splitter, CALLS, "<tool_call>");
        add(splitter, TEXT, "\n{\"name\":\"f\",\"arguments\":\"{}\"}\n");
        add(splitter, CALLED, "</tool_call>");
        pieces.addAll(splitter.finish("end"));

        assertThat(pieces)
                .containsExactly(new Thought("hm"), new Content("so "), new Call(0, "f", "{}"), new Content("end"));
    }

    @Test
    void takesAnArrayOfCalls() {
        var splitter = new AnswerSplitter(SPECIAL, true, false);

        add(splitter, CALLS, "");
        pieces.addAll(splitter.finish("[{\"name\":\"f\",\"parameters\":{}},{\"name\":\"g\"}]"));

        assertThat(pieces).containsExactly(new Call(0, "f", "{}"), new Call(1, "g", "{}"));
    }

    @Test
    void keepsAsTextWhatIsNoCall() {
        for (String written : List.of("{\"name\": \"f\", \"arg", "[1]", "{}", "f(x)", "{\"name\":1}")) {
            var splitter = new AnswerSplitter(SPECIAL, true, false);
            pieces.clear();

            add(splitter, CALLS, "");
            pieces.addAll(splitter.finish(written));

            assertThat(pieces).containsExactly(new Content(written));
            assertThat(splitter.hasCalled()).isFalse();
        }
    }

    @Test
    void takesMarkedCallsForTextWhereThereIsNothingToCall() {
        var splitter = new AnswerSplitter(SPECIAL, false, false);

        add(splitter, CALLS, "");
        add(splitter, TEXT, "{\"name\":\"f\"}");

        assertThat(pieces).containsExactly(new Content("{\"name\":\"f\"}"));
    }

    private void add(AnswerSplitter splitter, int id, String text) {
        pieces.addAll(splitter.add(new TokenGenerated(0, id, text, List.of())));
    }
}
