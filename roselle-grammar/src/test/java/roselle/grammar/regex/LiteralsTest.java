package roselle.grammar.regex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import roselle.grammar.automaton.Budget;

class LiteralsTest {
    private static final String[] TEXTS = {
        "", "a", "ab", "abc", "abd", "b", "ba", "bab", "\ud83d\ude00", "\ud83d\ude00a", "a\ud83d\ude00", "c"
    };

    private final Languages languages = new Languages(new Budget(100_000_000, 10_000_000));
    private final Random random = new Random(3);

    @Test
    void anIntersectionOfListsIsOneList() {
        for (int round = 0; round < 500; round++) {
            List<String> one = some();
            List<String> other = some();
            List<String> gone = some();
            Language all = languages.and(
                    languages.literals(one), languages.literals(other), languages.not(languages.literals(gone)));
            for (String text : TEXTS) {
                boolean isIn = one.contains(text) && other.contains(text) && !gone.contains(text);
                assertThat(languages.matches(all, text))
                        .as("'%s' in %s and %s without %s", text, one, other, gone)
                        .isEqualTo(isIn);
            }
            assertThat(all.kind).isIn(Language.Kind.LITERALS, Language.Kind.EMPTY);
        }
    }

    @Test
    void restsOfTextsAreJoinedByWhatIsStillToCome() {
        Language ofA = languages.next(languages.literals(List.of("abc", "abd", "ac", "b")), 'a'); // bc, bd, c
        Language ofB = languages.next(languages.literals(List.of("bbd", "bc", "a")), 'b'); // bd, c
        Language both = languages.and(ofA, ofB);
        assertThat(languages.matches(both, "bd")).isTrue();
        assertThat(languages.matches(both, "c")).isTrue();
        assertThat(languages.matches(both, "bc")).isFalse();
        Language without = languages.and(ofA, languages.not(ofB));
        assertThat(languages.matches(without, "bc")).isTrue();
        assertThat(languages.matches(without, "bd")).isFalse();
        assertThat(languages.and(languages.literals(List.of("a", "b")), languages.literals(List.of("c"))))
                .isSameAs(languages.empty());
    }

    private List<String> some() {
        List<String> some = new ArrayList<>();
        for (String text : TEXTS) {
            if (random.nextBoolean()) {
                some.add(text);
            }
        }
        return some.isEmpty() ? List.of("c") : some;
    }
}
