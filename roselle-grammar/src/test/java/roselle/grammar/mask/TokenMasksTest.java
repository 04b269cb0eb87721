package roselle.grammar.mask;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;

class TokenMasksTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ASKED = 20_000;

    private static final String[] TOKENS = {
        "a", "b", "c", "ab", "abc", "bc", "ca", "1", "12", "-", "ä", "é", "abcabc", "a", "", "ba", "\"", "{", "}"
    };

    @Test
    void allowsExactlyTheTokensThatGoOn() {
        TokenMasks masks =
                new TokenMasks(Constraints.regex("(abc)+-?[0-9]{1,2}|ä+", GrammarLimits.DEFAULTS), vocabulary());
        TokenMatcher matcher = masks.matcher();
        assertThat(allowed(matcher)).containsExactlyInAnyOrder("a", "ab", "abc", "ä", "abcabc", "a", "<c3>");
        assertThat(matcher.advance(3)).isTrue();
        assertThat(allowed(matcher)).containsExactlyInAnyOrder("c", "ca");
        assertThat(matcher.advance(0)).isFalse();
        assertThat(matcher.advance(2)).isTrue();
        assertThat(allowed(matcher)).containsExactlyInAnyOrder("a", "a", "ab", "abc", "abcabc", "1", "12", "-");
        assertThat(matcher.advance(7)).isTrue();
        assertThat(allowed(matcher)).containsExactlyInAnyOrder("1", "<end>");
    }

    @Test
    void spellsCharactersInPieces() {
        TokenMatcher matcher =
                new TokenMasks(Constraints.choice(List.of("ä", "é"), GrammarLimits.DEFAULTS), vocabulary()).matcher();
        assertThat(allowed(matcher)).containsExactlyInAnyOrder("ä", "é", "<c3>");
        assertThat(matcher.advance(TOKENS.length + 1)).isTrue();
        assertThat(allowed(matcher)).containsExactly("<a4>");
    }

    @Test
    void takesTokensBack() {
        TokenMatcher matcher = new TokenMasks(
                        Constraints.choice(List.of("abc", "ca1"), GrammarLimits.DEFAULTS), vocabulary())
                .matcher();
        TokenMask first = matcher.mask();
        matcher.advance(6);
        TokenMatcher fork = matcher.fork();
        assertThat(matcher.forcedBytes(10)).isEqualTo(new byte[] {'1'});
        matcher.rollback(1);
        assertThat(matcher.mask()).isSameAs(first);
        assertThat(matcher.advance(4)).isTrue();
        assertThat(matcher.isAccepting()).isTrue();
        assertThat(fork.advance(7)).isTrue();
        assertThat(fork.mask().count()).isEqualTo(1);
        assertThat(fork.mask().allows(TOKENS.length)).isTrue();
    }

    @Test
    void findsKnownMasksWithoutAllocating() {
        TokenMasks masks = new TokenMasks(Constraints.regex("(abc)+[0-9]*", GrammarLimits.DEFAULTS), vocabulary());
        TokenMatcher[] matchers = new TokenMatcher[4];
        matchers[0] = masks.matcher();
        int[] tokens = {3, 2, 7}; // ab, c, 1
        for (int i = 0; i < tokens.length; i++) {
            matchers[i + 1] = matchers[i].fork();
            assertThat(matchers[i + 1].advance(tokens[i])).isTrue();
        }
        allowedTogether(matchers, 1); // made here, and known behind it
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long allowed = allowedTogether(matchers, ASKED);
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
                .as("bytes of %d masks, of which each would take more", ASKED * matchers.length)
                .isLessThan(ASKED);
        assertThat(allowed).isEqualTo(ASKED * allowedTogether(matchers, 1));
    }

    private static long allowedTogether(TokenMatcher[] matchers, int times) {
        long allowed = 0;
        for (int i = 0; i < times; i++) {
            for (TokenMatcher matcher : matchers) {
                allowed += matcher.mask().count();
            }
        }
        return allowed;
    }

    private static Vocabulary vocabulary() {
        byte[][] tokens = new byte[TOKENS.length + 3][];
        for (int i = 0; i < TOKENS.length; i++) {
            tokens[i] = TOKENS[i].getBytes(StandardCharsets.UTF_8);
        }
        tokens[TOKENS.length] = new byte[0]; // the end token
        tokens[TOKENS.length + 1] = new byte[] {(byte) 0xC3};
        tokens[TOKENS.length + 2] = new byte[] {(byte) 0xA4};
        return new Vocabulary(tokens, new int[] {TOKENS.length});
    }

    private static List<String> allowed(TokenMatcher matcher) {
        List<String> allowed = new ArrayList<>();
        String[] extra = {"<end>", "<c3>", "<a4>"};
        TokenMask mask = matcher.mask();
        for (int id = 0; id < TOKENS.length + 3; id++) {
            if (mask.allows(id)) {
                allowed.add(id < TOKENS.length ? TOKENS[id] : extra[id - TOKENS.length]);
            }
        }
        return allowed;
    }
}
