package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The highest of many scores, whatever their order and however many are equal. */
class HighestScoresTest {
    private static final long SEED = 20261128;
    private static final int TRIALS = 100;

    private final HighestScores highest = new HighestScores();

    @Test
    void keepsTheHighestAndOfEqualOnesTheFirst() {
        var numbers = new Random(SEED);
        for (int trial = 0; trial < TRIALS; trial++) {
            int count = 2 + numbers.nextInt(150);
            int most = 1 + numbers.nextInt(count - 1);
            int kinds = 1 + numbers.nextInt(20); // few, so that many are equal
            var scores = new float[count + 3]; // and some behind them that do not count
            for (int p = 0; p < scores.length; p++) {
                scores[p] = p < count ? numbers.nextInt(kinds) - kinds / 2 : Float.MAX_VALUE;
                scores[p] *= numbers.nextBoolean() ? 1f : -1f; // zeros of both signs are equal
            }
            assertThat(chosen(scores, count, most))
                    .as("%d of %d, trial %d, seed %d", most, count, trial, SEED)
                    .isEqualTo(expected(scores, count, most));
        }
    }

    private int[] chosen(float[] scores, int count, int most) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate((most + 2L) * Integer.BYTES);
            highest.write(scores, count, most, target, 2);
            return target.asSlice(2 * Integer.BYTES).toArray(JAVA_INT);
        }
    }

    private static int[] expected(float[] scores, int count, int most) {
        return IntStream.range(0, count)
                .boxed()
                .sorted(Comparator.comparingDouble(p -> -(scores[p] + 0.0)))
                .limit(most)
                .mapToInt(p -> p)
                .sorted()
                .toArray();
    }
}
