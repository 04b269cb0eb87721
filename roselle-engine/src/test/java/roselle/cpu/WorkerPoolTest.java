package roselle.cpu;

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
            long worker = pool.owned()[0].threadId();
            rounds(pool, work, 5_000);
            long before = THREADS.getCurrentThreadAllocatedBytes();
            long workerBefore = THREADS.getThreadAllocatedBytes(worker);
            long overhead = THREADS.getCurrentThreadAllocatedBytes() - before;
            before = THREADS.getCurrentThreadAllocatedBytes();
            rounds(pool, work, 1_000);
            assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThanOrEqualTo(overhead);
            assertThat(THREADS.getThreadAllocatedBytes(worker)).isEqualTo(workerBefore);
        }
    }

    private static void rounds(WorkerPool pool, WorkerPool.Work work, int count) {
        for (int round = 0; round < count; round++) {
            pool.run(work);
        }
    }
}
