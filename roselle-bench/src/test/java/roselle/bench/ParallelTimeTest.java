package roselle.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How long work of several threads takes, also where there are fewer cores than threads. */
final class ParallelTimeTest {
    @Test
    void lastsFromTheFirstBeginToTheLastEnd() {
        var time = new ParallelTime(new long[] {-40, 10, -45}, new long[] {60, 25, 70});

        assertThat(time.nanos()).isEqualTo(115);
    }

    /** Whoever only waits for the threads wakes after short work as often as not: it must not be the one that measures. */
    @Test
    void isNeverShorterThanTheWorkOfAThread() {
        long least = 50_000;
        for (int round = 0; round < 200; round++) {
            long nanos = ParallelTime.measure(8, _ -> spin(least)).nanos();

            assertThat(nanos).isGreaterThanOrEqualTo(least);
        }
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void everyThreadDoesItsPart() {
        var sum = new AtomicInteger();

        ParallelTime.measure(5, number -> sum.addAndGet(1 << number));

        assertThat(sum).hasValue(0b11111);
    }

    @Test
    void tellsOfAThreadThatFails() {
        assertThatThrownBy(() -> ParallelTime.measure(2, number -> {
                    if (number == 1) {
                        throw new IllegalStateException("the memory is not what it was");
                    }
                }))
                .hasMessage("the memory is not what it was");
    }

    @Test
    void noMemoryIsFasterThanItCanBe() {
        MemoryBandwidth bandwidth = MemoryBandwidth.measure(1);

        // From a machine that swaps to eight stacks of HBM3e: beyond either, the clock or the work is wrong.
        assertThat(bandwidth.readBytesPerSecond()).isBetween(1e7, 1e13);
        assertThat(bandwidth.copyBytesPerSecond()).isBetween(1e7, 1e13);
    }
}
