package roselle.grammar.regex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.GrammarException;

class RegexTest {
    private static final String[] EXPRESSIONS = {
        "a",
        "^a",
        "a$",
        "^a$",
        "^$",
        "",
        "ab|ba",
        "^(ab|ba)+$",
        "(a|b)*c",
        "^[^a]{2,3}$",
        "^(?=.*a)(?=.*b).{2,4}$",
        "^(?!ab).*$",
        "a{2}",
        "^(a{1,2}b?){2}$",
        "^a?b??c*?$",
        "(^a|b$)",
        "^(a|$)",
        "[a-b-]c",
        "^\\w+$",
        "\\d",
        "^(?:a|bc?)*$",
        "(?<name>a)b",
        "^(?!.*(aa|bb)).+$",
        "a(?!b)",
        "^a|b$",
        "[ab]{3}",
        "(ab|c){2}",
        "a{2,3}b",
        "(a?b){2,}",
        "[ab]{2}|b{3}",
        "()",
        "[]",
        "[^]",
        "^[\\w-]{2}$",
        "^(a+)+$",
        "\\u0061",
        "^.$"
    };

    private final Languages languages = new Languages(new Budget(100_000_000, 10_000_000));

    @Test
    void matchesThatMayHaveBegunAnywhereAreJoined() {
        Language language = Regex.within(languages, "[a-f]{40}");
        for (int i = 0; i < 39; i++) {
            assertThat(language.parts).hasSizeLessThanOrEqualTo(2);
            language = languages.next(language, 'a' + i % 6);
            assertThat(language.isAny()).isFalse();
        }
        assertThat(languages.next(language, 'a').isAny()).isTrue();
        assertThat(languages.matches(language, "-" + "a".repeat(39))).isFalse();
        assertThat(languages.matches(language, "-" + "a".repeat(40))).isTrue();
    }

    @Test
    void findsWhatJavaFinds() {
        Random random = new Random(3);
        for (String expression : EXPRESSIONS) {
            Language language = Regex.within(languages, expression);
            Pattern pattern =
                    Pattern.compile(expression.equals("[]") ? "(?!)" : expression.equals("[^]") ? "(?s)." : expression);
            for (int i = 0; i < 400; i++) {
                String text = random(random);
                assertThat(languages.matches(language, text))
                        .as("%s in '%s'", expression, text)
                        .isEqualTo(pattern.matcher(text).find());
            }
        }
    }

    @Test
    void readsPropertiesAndEscapes() {
        assertThat(languages.matches(Regex.within(languages, "^\\p{L}+$"), "Größe"))
                .isTrue();
        assertThat(languages.matches(Regex.within(languages, "^\\p{Script=Greek}+$"), "αβγ"))
                .isTrue();
        assertThat(languages.matches(Regex.within(languages, "^\\p{Lu}$"), "a")).isFalse();
        assertThat(languages.matches(Regex.within(languages, "^\\S\\u{1F600}\\cA\\x41$"), "x😀\u0001A"))
                .isTrue();
    }

    @Test
    void refusesWhatIsNotRegular() {
        for (String expression : new String[] {"(a)\\1", "\\bword", "(?<=a)b", "[b-a]", "(a", "a)", "a{3,2}", "*"}) {
            assertThatThrownBy(() -> Regex.within(languages, expression))
                    .as(expression)
                    .isInstanceOf(GrammarException.class);
        }
    }

    @Test
    void staysLinearWhereBacktrackingDoesNot() {
        Language hostile = Regex.within(languages, "(.*a){12}b");
        assertThat(languages.matches(hostile, "a".repeat(2000))).isFalse();
        assertThat(languages.matches(hostile, "a".repeat(2000) + "b")).isTrue();
    }

    @Test
    void knowsWhenNothingIsLeft() {
        Language none = languages.and(Regex.within(languages, "^a+$"), Regex.within(languages, "^b+$"));
        assertThat(languages.isLive(none)).isFalse();
        Language some = languages.and(Regex.within(languages, "^a+$"), languages.length(3, 100_000));
        assertThat(languages.isLive(some)).isTrue();
        assertThat(languages.isLive(languages.and(Regex.within(languages, "^(aa)+$"), languages.length(3, 3))))
                .isFalse();
    }

    private static String random(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            text.append("aabbc-1".charAt(random.nextInt(7)));
        }
        return text.toString();
    }
}
