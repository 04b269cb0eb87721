package roselle.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Against lists that Python 3 printed: {@code r = random.Random(seed); [r.randrange(limit) for _ in range(8)]}. */
final class PythonRandomTest {
    @Test
    void drawsWhatPythonDraws() {
        assertThat(draws(2, 50256)).containsExactly(3706, 6002, 5562, 23662, 11081, 48232, 43891, 20194);
        assertThat(draws(1, 50256)).containsExactly(8805, 37303, 50054, 4135, 16716, 7727, 32468, 49870);
        assertThat(draws((1L << 40) + 5, 1000)).containsExactly(516, 529, 275, 679, 948, 28, 543, 776);
    }

    private static int[] draws(long seed, int limit) {
        var random = new PythonRandom(seed);
        return IntStream.range(0, 8).map(i -> random.below(limit)).toArray();
    }
}
