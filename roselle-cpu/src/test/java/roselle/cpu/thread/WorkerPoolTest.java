package roselle.cpu.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class WorkerPoolTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void everyThreadDoesItsShareOncePerRound() {
        var done = new AtomicIntegerArray(3);
        try (var pool = new WorkerPool(3)) {
            for (int round = 0; round < 2_000; round++) {
                pool.run((thread, threads) -> done.incrementAndGet(thread));
            }
        }
        for (int thread = 0; thread < 3; thread++) {
            assertThat(done.get(thread)).isEqualTo(2_000);
        }
    }

    @Test
    void aFailureOfAnyThreadReachesTheCallerAndThePoolGoesOn() {
        try (var pool = new WorkerPool(2)) {
            assertThatThrownBy(() -> pool.run((thread, threads) -> {
                        if (thread == 1) {
                            throw new IllegalArgumentException("planted");
                        }
                    }))
                    .hasRootCauseMessage("planted");
            var done = new AtomicIntegerArray(2);
            pool.run((thread, threads) -> done.incrementAndGet(thread));
            assertThat(done.get(0) + done.get(1)).isEqualTo(2);
        }
    }

    @Test
    void closingEndsTheThreads() {
        var pool = new WorkerPool(3);
        Thread[] owned = pool.owned();
        assertThat(owned).hasSize(2).allMatch(Thread::isAlive);
        pool.close();
        assertThat(owned).noneMatch(Thread::isAlive);
        assertThatThrownBy(() -> pool.run((thread, threads) -> {})).hasMessageContaining("closed");
    }

    @Test
    void aRoundAllocatesNothing() {
        WorkerPool.Work work = (thread, threads) -> {};
        try (var pool = new WorkerPool(2)) {
            long least = Long.MAX_VALUE;
            for (int attempt = 0;
                    attempt < 20 && least > 0;
                    attempt++) { // what is loaded on the first wait is no round's
                least = Math.min(least, bytesOfRounds(pool, work));
            }
            assertThat(least).isZero();
        }
    }

    /** What a thousand rounds allocate on both threads. */
    private static long bytesOfRounds(WorkerPool pool, WorkerPool.Work work) {
        long worker = pool.owned()[0].threadId();
        long workerBefore = THREADS.getThreadAllocatedBytes(worker);
        long asked = THREADS.getCurrentThreadAllocatedBytes();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        rounds(pool, work, 1_000);
        long after = THREADS.getCurrentThreadAllocatedBytes();
        long overhead = before - asked;
        return Math.max(0, after - before - overhead) + THREADS.getThreadAllocatedBytes(worker) - workerBefore;
    }

    private static void rounds(WorkerPool pool, WorkerPool.Work work, int count) {
        for (int round = 0; round < count; round++) {
            pool.run(work);
        }
    }
}
