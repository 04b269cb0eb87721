package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import roselle.batch.TokenConstraint;
import roselle.conversation.AnswerLead;
import roselle.engine.prompt.NoTokenizer;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.Vocabulary;

/** Where an answer stands in its format, and what must come next. */
final class FormatConstraintTest {
    private static final int END = 0;
    private static final int PROMPT = 1;
    private static final String[] TOKENS = {"", "a", "b", "c", "bc", "1", "x"};

    private static FormatConstraint begin(Constraint constraint) {
        byte[][] octets = Arrays.stream(TOKENS)
                .map(token -> token.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        var masks = new TokenMasks(constraint, new Vocabulary(octets, new int[] {END}));
        long[] anyButEnd = {(1L << TOKENS.length) - 2};
        return new FormatMasks(masks, 1, anyButEnd).begin(PROMPT, AnswerLead.none(new NoTokenizer(TOKENS.length)));
    }

    /** What must follow after each of the tokens. */
    private static int[] forced(Constraint constraint, int... answer) {
        FormatConstraint format = begin(constraint);
        int[] ids = new int[PROMPT + answer.length];
        System.arraycopy(answer, 0, ids, PROMPT, answer.length);
        return IntStream.rangeClosed(PROMPT, ids.length)
                .map(length -> {
                    format.isCompleteAfter(ids, length);
                    return format.forcedAfter(ids, length);
                })
                .toArray();
    }

    @Test
    void aTokenMustComeWhereItIsTheOnlyOneAndNotWhereItIsOneOfTwoWaysToWriteWhatMust() {
        Constraint constraint = Constraints.regex("ab[1x]xa*", GrammarLimits.DEFAULTS);
        int none = TokenConstraint.NOT_FORCED;
        assertThat(forced(constraint, 1, 2, 5, 6, 1)).containsExactly(1, 2, none, 6, none, none);
        Constraint twoWays = Constraints.regex("abc", GrammarLimits.DEFAULTS);
        assertThat(forced(twoWays, 1, 2, 3)).containsExactly(1, none, 3, END);
    }

    /** Lets {@code a} follow and cannot say what comes behind it. */
    private static final class Costly implements State {
        @Override
        public @Nullable State advance(int octet) {
            if (octet == 'b') {
                throw new GrammarException(GrammarException.Reason.BUDGET, "too much.");
            }
            return octet == 'a' ? this : null;
        }

        @Override
        public boolean isAccepting() {
            return false;
        }

        @Override
        public int[] octets() {
            return new int[] {'a'};
        }
    }

    @Test
    void whatCannotBeFollowedAllowsNothingAnyMore() {
        var costly = new Costly();
        FormatConstraint format = begin(() -> costly);
        int[] ids = {7, 1, 2, 1};
        assertThat(format.isCompleteAfter(ids, 2)).isFalse();
        assertThat(format.failure()).isEmpty();
        assertThat(format.isCompleteAfter(ids, 3)).isFalse();
        assertThat(format.failure()).endsWith("too much.");
        assertThat(format.forcedAfter(ids, 3)).isEqualTo(TokenConstraint.NOT_FORCED);
        assertThat(format.mask(ids, 3)).containsOnly(0);
        assertThat(format.mask(ids, 4)).containsOnly(0);
    }
}
