package roselle.bench;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * When each of some threads began and ended a piece of work that they do together, in nanoseconds of one clock.
 *
 * <p>The threads that work take the times, not the one that waits for them: on a busy machine that one may wake after all
 * work is done, and would then find that it took no time at all.
 */
final class ParallelTime {
    private final long[] begun;
    private final long[] ended;

    ParallelTime(long[] begun, long[] ended) {
        this.begun = begun.clone();
        this.ended = ended.clone();
    }

    /** A thread's part of the work. */
    interface Work {
        void of(int thread);
    }

    /** Lets threads do their parts at the same time, and waits for all of them. */
    static ParallelTime measure(int threads, Work work) {
        var time = new ParallelTime(new long[threads], new long[threads]);
        var start = new CyclicBarrier(threads);
        var failure = new AtomicReference<@Nullable Throwable>();
        var running = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            running[i] = Thread.ofPlatform()
                    .daemon()
                    .uncaughtExceptionHandler((_, thrown) -> failure.set(thrown))
                    .start(() -> time.run(number, start, work));
        }
        Arrays.stream(running).forEach(ParallelTime::join);
        @Nullable Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException(Objects.toString(thrown.getMessage(), "a thread failed"), thrown);
        }
        return time;
    }

    private void run(int number, CyclicBarrier start, Work work) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException interrupted) {
            throw new IllegalStateException("interrupted while measuring", interrupted);
        }
        begun[number] = System.nanoTime();
        work.of(number);
        ended[number] = System.nanoTime();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while measuring", interrupted);
        }
    }

    /** From the first begin to the last end. */
    long nanos() {
        long base = begun[0]; // the clock may begin anywhere, and pass its largest value
        long last = Arrays.stream(ended).map(moment -> moment - base).max().orElse(0);
        return last - Arrays.stream(begun).map(moment -> moment - base).min().orElse(0);
    }
}
