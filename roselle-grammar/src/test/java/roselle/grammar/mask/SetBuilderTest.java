package roselle.grammar.mask;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SetBuilderTest {
    private static final int WORDS = 200;
    private static final int TOKENS = WORDS * Long.SIZE;

    private final Random random = new Random(7);
    private final SetBuilder builder = new SetBuilder(WORDS);
    private final BitSet expected = new BitSet();

    @Test
    void setsAndTheirHashesAreThoseOfAllSteps() {
        for (int round = 0; round < 400; round++) {
            build();
            if (round % 3 == 0) {
                builder.clear();
            } else if (round % 3 == 1) {
                assertThat(bits(builder.finish())).isEqualTo(expected);
            } else {
                builder.settle();
                assertThat(builder.hash())
                        .isEqualTo(expected.stream().mapToLong(TokenHash::of).sum());
                assertThat(bits(builder.settled())).isEqualTo(expected);
            }
            expected.clear();
            assertThat(bits(builder.finish())).isEqualTo(expected); // nothing is left of it
        }
    }

    private void build() {
        for (int step = random.nextInt(12); step >= 0; step--) {
            switch (random.nextInt(4)) {
                case 0 -> {
                    TokenSet set = some();
                    builder.addAll(set);
                    expected.or(bits(set));
                }
                case 1 ->
                    some().forEach(token -> {
                        builder.remove(token);
                        expected.clear(token);
                    });
                default ->
                    some().forEach(token -> {
                        builder.add(token);
                        expected.set(token);
                    });
            }
        }
    }

    private TokenSet some() {
        SetBuilder other = new SetBuilder(WORDS);
        int least = random.nextInt(3) == 0 ? 0 : random.nextInt(TOKENS);
        for (int i = random.nextInt(8) == 0 ? TOKENS : random.nextInt(50); i >= 0; i--) {
            other.add(least + random.nextInt(TOKENS - least));
        }
        TokenSet set = other.finish();
        other.addAll(set);
        set.forEach(token -> {
            if (random.nextInt(50) == 0) {
                other.remove(token);
            }
        });
        return other.finish();
    }

    private static BitSet bits(TokenSet set) {
        return BitSet.valueOf(set.bits(WORDS));
    }
}
