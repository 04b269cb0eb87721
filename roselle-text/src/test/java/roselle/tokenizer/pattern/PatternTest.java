package roselle.tokenizer.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.tokenizer.RandomText;
import roselle.tokenizer.pretokenizer.PatternPreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;
import roselle.tokenizer.pretokenizer.SplitBehavior;
import roselle.tokenizer.pretokenizer.WordScanner;

/** The pattern engine: what it matches, what it refuses, and that its time is linear. */
class PatternTest {
    private static final int LONG = 1_000_000;

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            a|ab~ab~a
            ab|a~ab~ab
            (?:a|ab)c~abc~abc
            a*~aaa~aaa
            a*?b~aab~aab
            a{2,3}~aaaaaaa~aaa,aaa
            a{2}~aaaaa~aa,aa
            a{,2}b~aaab~aab
            x{a}~x{a}~x{a}
            a?+ab~aab~aab
            [^a-c&&[a-z]]+~abcdef1~def1
            [a-z&&[^aeiou]]+~roselle~r,s,ll
            [\\]\\-]+~a]-b~]-
            [a-]+~-a-~-a-
            (?i:Ab)c~aBcABC~aBc
            (?i)k~K\u212a~K,\u212a
            \\p{Han}+~ab\u4f60\u597dc~\u4f60\u597d
            \\p{^L}+~ab12c~12
            \\P{L}+~ab12c~12
            [[:alpha:]]+~1ab2~ab
            \\d{1,3}(?=(?:\\d{3})*\\b)~1234567~1,234,567
            (?<=a)b~abcb~b
            (?<!a)b~abcb~b
            (?<=ab|c)d~abdcdxd~d,d
            \\x41\\u0042~AB~AB
            \\x{1F600}~\ud83d\ude00~\ud83d\ude00
            \\s+(?!\\S)~`a  b`~` `
            (a|b)*c~ababc~ababc
            (?:a*)*b~aaab~aaab
            (?:a|b?)*c~ababc~ababc
            \\bfoo\\b~`foo food`~foo
            """)
    void matchesAsOnigurumaDoes(String pattern, String text, String matches) {
        assertThat(String.join(",", matches(pattern, text))).isEqualTo(matches);
    }

    @Test
    void anchorsHoldAtEveryLineAsInRuby() {
        assertThat(matches("^.", "ab\ncd\n")).containsExactly("a", "c");
        assertThat(matches(".$", "ab\ncd\n")).containsExactly("b", "d");
        assertThat(matches("\\A.|.\\z", "ab\ncd")).containsExactly("a", "d");
        assertThat(matches(".\\Z", "ab\n")).containsExactly("b");
    }

    private static List<String> matches(String pattern, String text) {
        var pieces = new ArrayList<String>();
        new PatternPreTokenizer(Pattern.compile(pattern), SplitBehavior.REMOVED, true)
                .split(
                        text,
                        0,
                        text.length(),
                        true,
                        (piece, start, end, first) -> pieces.add(piece.substring(start, end)));
        return pieces;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(",
                ")",
                "[a",
                "a**b(",
                "*a",
                "\\p{Klingon}",
                "\\1",
                "(?<n>a)\\k<n>",
                "(?>a|b)",
                "(?:ab)++",
                "a{2000}",
                "(?:a{1000}){1000}",
                "(?<=a+)b",
                "\\",
                "[z-a]",
                "(?q:a)",
                "\\x{110000}",
                "a{3,2}"
            })
    void refusesWhatIsWrongOrNotSupportedInOneSentence(String pattern) {
        assertThatThrownBy(() -> Pattern.compile(pattern))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("pattern");
    }

    private static Stream<String> patternsThatGrow() {
        return Stream.of(
                "(?:(?:(?:(?:){1000}){1000}){1000}){1000}", // nothing, 10^12 times
                "a?".repeat(5_000), // beginnings of 5,000 parts, each a part of those before
                "(?<=x" + "(".repeat(40) + "a|b)" + "|b)".repeat(39) + ")a", // a width that is asked for 2^40 times
                "(?<=(?:(?:(?:a{1000}){1000}){1000}){1000})a", // a width beyond 32 bits
                "a" + "*".repeat(9_000), // loops within loops
                "[" + "&&[a-z]".repeat(1_400) + "]", // sets of sets
                "[" + ideographs(9_000) + "]",
                "a".repeat(100_000));
    }

    private static String ideographs(int count) {
        var text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.appendCodePoint(0x4E00 + 2 * i);
        }
        return text.toString();
    }

    @ParameterizedTest
    @MethodSource("patternsThatGrow")
    @Timeout(60) // those that grew took minutes or for ever; none takes a second
    void compilesOrRefusesAtOnce(String pattern) {
        try {
            assertThat(Pattern.compile(pattern).size()).isLessThan(5_000);
        } catch (CheckpointException refused) {
            assertThat(refused).hasMessageContaining("pattern");
        }
    }

    @Test
    void aSetOfSetsHoldsWhatTheyHold() {
        assertThat(matches("[a-z&&[^b]&&[a-c\\u00e9]]+", "abc\u00e9zc")).containsExactly("a", "c", "c");
        assertThat(matches("(?:\u00e9|[\\u4e00-\\u4eff]|a)?b", "\u00e9b\u4e60b\u5000b"))
                .containsExactly("\u00e9b", "\u4e60b", "b");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            \\s+$~' '
            (?:a*)*c~a
            (?:a|a)*c~a
            a*b~a
            a*b|a~a
            (?=a*b)a~a
            (?=.*)a~a
            (?=a*+)a~a
            a++b~a
            (?:a|b|ab)*c~a
            (?=(?:a{3})+(?!a))~a
            (?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+x~a
            """)
    void takesLinearTimeWhatever(String pattern, char repeated) {
        char letter = pattern.startsWith("\\s") ? ' ' : repeated;
        String text = String.valueOf(letter).repeat(LONG) + "-";
        var matcher = new PatternMatcher(Pattern.compile(pattern), text, 0, text.length());
        int from = 0;
        while (from <= text.length() && matcher.find(from)) {
            from = Math.max(matcher.matchEnd(), from + 1);
        }
        assertThat(matcher.steps()).isLessThan(400L * LONG);
    }

    @ParameterizedTest
    @EnumSource(WordScanner.Flavor.class)
    void scannersCutLikeTheirPatterns(WordScanner.Flavor flavor) {
        var generic = new PatternPreTokenizer(Pattern.compile(flavor.pattern()), SplitBehavior.ISOLATED, false);
        var random = new RandomText(7);
        for (int i = 0; i < 20_000; i++) {
            String text = random.next();
            assertThat(pieces(new WordScanner(flavor), text))
                    .as("text %d: %s", i, text)
                    .isEqualTo(pieces(generic, text));
        }
    }

    private static List<String> pieces(PreTokenizer preTokenizer, String text) {
        var pieces = new ArrayList<String>();
        preTokenizer.split(
                text,
                0,
                text.length(),
                true,
                (piece, start, end, first) -> pieces.add(piece.substring(start, end) + first));
        return pieces;
    }

    @Test
    void remembersStatesOnlyWhenItMust() {
        String text = "The quick brown fox, isn't it?  ".repeat(1000);
        var matcher = new PatternMatcher(Pattern.compile(WordScanner.Flavor.LLAMA3.pattern()), text, 0, text.length());
        int from = 0;
        while (from < text.length() && matcher.find(from)) {
            from = matcher.matchEnd();
        }
        assertThat(matcher.remembers()).isFalse();
    }
}
