package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Markdown in a terminal; {@code ^} stands for the escape that begins a style, {@code ¶} for the end of a line. */
final class StyledMarkdownTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            plain text.            | plain text.
            a **b** c              | a ^0;1mb^0m c
            *a* ***b*** _c_        | ^0;3ma^0m ^0;1;3mb^0m ^0;3mc^0m
            **a *b* c**            | ^0;1ma ^0;1;3mb^0;1m c^0m
            ~~gone~~ ~here~        | ^0;9mgone^0m ~here~
            2 * 3, 2*3, a_b_c      | 2 * 3, 2*3, a_b_c
            `a*b*` and ``c`d``     | ^0;36ma*b*^0m and ^0;36mc`d^0m
            \\*a\\* \\x            | *a* \\x
            **open¶next            | ^0;1mopen^0m¶next
            "# Title¶text"         | ^0;1mTitle^0m¶text
            "#5 and ####### x"     | #5 and ####### x
            - a¶  * b¶-5           | • a¶  • b¶-5
            1. a                   | 1. a
            > q *r*¶s              | ^0;2m│ q ^0;3;2mr^0;2m^0m¶s
            ***¶a                  | ^2m────────────────────────────────────────^0m¶a
            ```js¶a **b**¶```¶c    | ^2mjs^0m¶  ^36ma **b**^0m¶c
            ~~~¶x¶```¶~~~          | "  ^36mx^0m¶  ^36m```^0m¶"
            ```¶unended            | "  ^36munended^0m"
            **                     | **
            a `                    | a ^0;36m^0m
            """)
    void becomesStyles(String markdown, String expected) {
        String text = markdown.replace('¶', '\n');
        String whole = styled(text, text.length());

        assertThat(whole).isEqualTo(expected);
        assertThat(styled(text, 1)).as("letter by letter").isEqualTo(whole);
        assertThat(styled(text, 2)).as("two letters at a time").isEqualTo(whole);
    }

    private static String styled(String text, int length) {
        var markdown = new StyledMarkdown();
        var shown = new StringBuilder();
        for (int at = 0; at < text.length(); at += length) {
            shown.append(markdown.write(text.substring(at, Math.min(text.length(), at + length))));
        }
        return shown.append(markdown.end()).toString().replace("\u001B[", "^").replace('\n', '¶');
    }

    @Test
    void holdsNothingBackButMarks() {
        var markdown = new StyledMarkdown();

        assertThat(markdown.write("Hel")).isEqualTo("Hel");
        assertThat(markdown.write("lo *")).isEqualTo("lo ");
        assertThat(markdown.write(" b")).isEqualTo("* b");
    }

    @Test
    void whatAModelWritesCommandsNoTerminal() {
        var markdown = new StyledMarkdown();

        assertThat(markdown.write("a\u001B]0;title\u0007b\u009B2Jc\td\r\n") + markdown.end())
                .isEqualTo("a\uFFFD]0;title\uFFFDb\uFFFD2Jc\td\uFFFD\n");
    }
}
