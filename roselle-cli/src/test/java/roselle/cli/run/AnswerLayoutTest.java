package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent.ToolCall;

final class AnswerLayoutTest {
    private final AnswerLayout layout = new AnswerLayout();

    @Test
    void leavesAnAnswerWithoutThoughtsAsItIs() {
        assertThat(layout.text("A fox") + layout.text("") + layout.text(".\n") + layout.text("End"))
                .isEqualTo("A fox.\nEnd");
    }

    @Test
    void setsThoughtsAndCallsApart() {
        String told = layout.thought("2 + ")
                + layout.text("")
                + layout.thought("2")
                + layout.text("So")
                + layout.call(new ToolCall(0, 0, "call_1", "sum", "{\"a\":2}"))
                + layout.call(new ToolCall(0, 1, "call_2", "stop", "{}"))
                + layout.text("4");

        assertThat(told).isEqualTo("""
                --- thinks ---
                2 + 2
                --- answers ---
                So
                --- calls sum {"a":2} ---
                --- calls stop {} ---
                --- answers ---
                4""");
    }

    @Test
    void showsMarkdownAsStylesAndThoughtsDimInATerminal() {
        var styled = new AnswerLayout(true);

        String told = styled.thought("2 + *2*") + styled.text("So **4") + styled.text("**") + styled.end();

        assertThat(told.replace("\u001B[", "^"))
                .isEqualTo("^2m--- thinks ---^0m\n^2m2 + *2*^0m\n^2m--- answers ---^0m\nSo ^0;1m4^0m");
    }

    @Test
    void stylesAreForTerminalsThatShowThemAndUsersWhoWantThem() {
        assertThat(AnswerLayout.areStylesWanted(Map.of("TERM", "xterm"))).isTrue();
        assertThat(AnswerLayout.areStylesWanted(Map.of("TERM", "dumb"))).isFalse();
        assertThat(AnswerLayout.areStylesWanted(Map.of())).isFalse();
        assertThat(AnswerLayout.areStylesWanted(Map.of("TERM", "xterm", "NO_COLOR", "1")))
                .isFalse();
    }
}
