package roselle.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who works on a long text when; told by order, not by time. */
@Timeout(60)
final class LongWorkTest {
    private static final int SLICE = 16 << 10;

    private final LongWork work = new LongWork(1, 1000);
    private final List<String> order = new CopyOnWriteArrayList<>();

    private void awaitWaiting(int count) {
        while (work.waiting() < count) {
            LockSupport.parkNanos(100_000);
        }
    }

    private void assertGoesOn() {
        String answer = work.run("", 1, _ -> "goes on");
        assertThat(answer).isEqualTo("goes on");
    }

    @Test
    void aKeyThatHadLessGoesOnAfterASlice() throws InterruptedException {
        var begun = new CountDownLatch(1);
        Thread greedy = Thread.startVirtualThread(() -> work.run("greedy", 1, job -> {
            order.add("greedy 1");
            begun.countDown();
            awaitWaiting(2);
            job.advance(SLICE);
            return order.add("greedy 2");
        }));
        begun.await();
        Thread second = Thread.startVirtualThread(() -> work.run("greedy", 1, _ -> order.add("greedy 3")));
        awaitWaiting(1);
        Thread modest = Thread.startVirtualThread(() -> work.run("modest", 1, _ -> order.add("modest")));

        greedy.join();
        second.join();
        modest.join();

        assertThat(order).containsExactly("greedy 1", "modest", "greedy 2", "greedy 3");
    }

    /** What has begun keeps memory: a key that has had less waits for it, but one whose work is small does not. */
    @Test
    void beginsNoMoreThanThereIsMemoryFor() throws InterruptedException {
        var begun = new CountDownLatch(1);
        Thread large = Thread.startVirtualThread(() -> work.run("large", 900, job -> {
            order.add("large 1");
            begun.countDown();
            awaitWaiting(2);
            job.advance(SLICE);
            return order.add("large 2");
        }));
        begun.await();
        Thread second = Thread.startVirtualThread(() -> work.run("second", 900, _ -> order.add("second")));
        awaitWaiting(1);
        Thread small = Thread.startVirtualThread(() -> work.run("small", 100, _ -> order.add("small")));

        large.join();
        second.join();
        small.join();

        assertThat(order).containsExactly("large 1", "small", "large 2", "second");
    }

    @Test
    void doesWorkThatIsLargerThanAllThatMayBegin() {
        assertThat(work.<Boolean>run("", Long.MAX_VALUE, _ -> true)).isTrue();
        assertGoesOn();
    }

    @Test
    void runsOnAPlatformThreadAndTellsWhatFailed() {
        boolean isVirtual = work.run("", 1, _ -> Thread.currentThread().isVirtual());
        assertThat(isVirtual).isFalse();
        assertThatThrownBy(() -> work.run("", 1, _ -> {
                    throw new OutOfMemoryError("planted");
                }))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("planted");
        assertGoesOn();
    }

    @Test
    void anInterruptedCallerEndsItsWork() throws InterruptedException {
        var begun = new CountDownLatch(1);
        Thread caller = Thread.ofVirtual()
                .unstarted(() -> work.run("", 1, job -> {
                    begun.countDown();
                    while (true) {
                        job.advance(SLICE);
                    }
                }));
        caller.setUncaughtExceptionHandler((_, _) -> {}); // the cancellation
        caller.start();
        begun.await();
        caller.interrupt();
        caller.join();
        assertGoesOn();
    }
}
