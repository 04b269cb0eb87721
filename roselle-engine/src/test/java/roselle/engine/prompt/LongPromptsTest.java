package roselle.engine.prompt;

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
final class LongPromptsTest {
    private static final int SLICE = 16 << 10;

    private final LongPrompts prompts = new LongPrompts(1);
    private final List<String> order = new CopyOnWriteArrayList<>();

    private void awaitWaiting(int count) {
        while (prompts.waiting() < count) {
            LockSupport.parkNanos(100_000);
        }
    }

    private void assertGoesOn() {
        String answer = prompts.run("", _ -> "goes on");
        assertThat(answer).isEqualTo("goes on");
    }

    @Test
    void aKeyThatHadLessGoesOnAfterASlice() throws InterruptedException {
        var begun = new CountDownLatch(1);
        Thread greedy = Thread.startVirtualThread(() -> prompts.run("greedy", job -> {
            order.add("greedy 1");
            begun.countDown();
            awaitWaiting(2);
            job.advance(SLICE);
            return order.add("greedy 2");
        }));
        begun.await();
        Thread second = Thread.startVirtualThread(() -> prompts.run("greedy", _ -> order.add("greedy 3")));
        awaitWaiting(1);
        Thread modest = Thread.startVirtualThread(() -> prompts.run("modest", _ -> order.add("modest")));

        greedy.join();
        second.join();
        modest.join();

        assertThat(order).containsExactly("greedy 1", "modest", "greedy 2", "greedy 3");
    }

    @Test
    void runsOnAPlatformThreadAndTellsWhatFailed() {
        boolean isVirtual = prompts.run("", _ -> Thread.currentThread().isVirtual());
        assertThat(isVirtual).isFalse();
        assertThatThrownBy(() -> prompts.run("", _ -> {
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
                .unstarted(() -> prompts.run("", job -> {
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
