package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.tokenizer.format.TokenizerFixture;

/** A word of any length, which no pre-tokenizer cuts, is told of while it is worked on, so that others can have a turn. */
final class LongWordTest {
    private static final int LENGTH = 300_000;
    private static final int LARGEST_PART = 1 << 14;

    static Stream<String> families() {
        return TokenizerFixture.FAMILIES.stream()
                .filter(family -> !family.startsWith("bert")) // refuse long words at once
                .filter(family -> !family.equals("word-level")); // look them up, and nothing else
    }

    @ParameterizedTest
    @MethodSource("families")
    void isToldOfInParts(String family) {
        Tokenizer tokenizer = TokenizerFixture.ours(TokenizerFixture.json(family));
        String word = new SplittableRandom(7)
                .ints(LENGTH, 'a', 'z' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        var largest = new AtomicInteger();
        var sum = new AtomicLong();

        int[] ids = tokenizer.encode(word, new EncodeOptions(false, false), (characters, _) -> {
            largest.accumulateAndGet(characters, Math::max);
            sum.addAndGet(characters);
        });

        assertThat(largest.get()).isLessThanOrEqualTo(LARGEST_PART);
        assertThat(sum.get()).isBetween((long) LENGTH, LENGTH + 4L);
        assertThat(ids).isEqualTo(tokenizer.encode(word, new EncodeOptions(false, false)));
    }
}
