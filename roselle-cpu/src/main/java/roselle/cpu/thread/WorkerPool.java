package roselle.cpu.thread;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads of our own that all run the same piece of work and meet at its end.
 *
 * <p>The caller of {@link #run} is thread 0 and works too. Whoever waits spins for a while, because the next piece follows
 * within microseconds during a step, and then parks, because a server at rest must not heat the room. A dispatch allocates
 * nothing: the work is an object that its owner reuses. One thread at a time may call.
 */
public final class WorkerPool implements AutoCloseable {
    /** A piece of work that is split by thread number. */
    public interface Work {
        /** Does the share of {@code thread} among {@code threads}. */
        void run(int thread, int threads);
    }

    /** About a hundred microseconds on processors of today. */
    private static final int SPINS = 4_000;

    private final Worker[] workers;
    private final Thread[] threads;

    private @Nullable Work work;
    private final AtomicInteger round = new AtomicInteger();
    private final AtomicInteger pending = new AtomicInteger();
    private volatile boolean isClosed;
    private volatile @Nullable Thread waiting;
    private volatile @Nullable Throwable failure;

    /** Starts {@code threads - 1} threads; the caller is the last one. */
    public WorkerPool(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("a pool needs at least one thread, not " + threads);
        }
        workers = new Worker[threads - 1];
        this.threads = new Thread[threads - 1];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(i + 1);
            this.threads[i] = new Thread(workers[i], "roselle-cpu-" + (i + 1));
            this.threads[i].setDaemon(true);
            this.threads[i].start();
        }
    }

    /** Threads that share each piece of work. */
    public int threads() {
        return workers.length + 1;
    }

    /** The threads of this pool, the caller aside. */
    public Thread[] owned() {
        return threads.clone();
    }

    /** Runs a piece of work on all threads and returns when each has done its share. */
    public void run(Work next) {
        if (isClosed) {
            throw new IllegalStateException("the pool is closed");
        }
        if (workers.length == 0) {
            next.run(0, 1);
            return;
        }
        work = next;
        pending.set(workers.length);
        round.incrementAndGet();
        for (int i = 0; i < workers.length; i++) {
            if (workers[i].isParked) {
                LockSupport.unpark(threads[i]);
            }
        }
        try {
            next.run(0, workers.length + 1);
        } finally {
            await();
        }
        rethrow();
    }

    private void await() {
        for (int spins = 0; pending.get() > 0; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                waiting = Thread.currentThread();
                if (pending.get() > 0) {
                    LockSupport.park(this);
                }
                waiting = null;
            }
        }
    }

    private void rethrow() {
        Throwable thrown = failure;
        if (thrown != null) {
            failure = null;
            throw new IllegalStateException("a worker thread failed", thrown);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
        for (Thread thread : threads) {
            join(thread);
        }
    }

    private static void join(Thread thread) {
        boolean wasInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Worker implements Runnable {
        private final int number;
        private volatile boolean isParked;

        Worker(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            int seen = 0;
            while (awaitRound(seen)) {
                seen++;
                try {
                    share();
                } catch (Throwable e) {
                    failure = e;
                }
                if (pending.decrementAndGet() == 0) {
                    Thread caller = waiting;
                    if (caller != null) {
                        LockSupport.unpark(caller);
                    }
                }
            }
        }

        private void share() {
            requireNonNull(work, "work").run(number, workers.length + 1);
        }

        /** Waits for the round after {@code seen}; false when the pool closes. */
        private boolean awaitRound(int seen) {
            for (int spins = 0; round.get() == seen; spins++) {
                if (isClosed) {
                    return false;
                }
                if (spins < SPINS) {
                    Thread.onSpinWait();
                } else {
                    isParked = true;
                    if (round.get() == seen && !isClosed) {
                        LockSupport.park(WorkerPool.this);
                    }
                    isParked = false;
                }
            }
            return true;
        }
    }
}
