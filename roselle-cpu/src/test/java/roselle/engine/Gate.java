package roselle.engine;

import java.util.concurrent.CountDownLatch;
import roselle.scheduler.Scheduler;

/** Ends no step before a test opens it, so that what the test submits until then meets, however fast the machine is. */
final class Gate implements StepHook {
    private final CountDownLatch opened = new CountDownLatch(1);
    private final StepHook next;

    Gate() {
        this(NONE);
    }

    Gate(StepHook next) {
        this.next = next;
    }

    void open() {
        opened.countDown();
    }

    @Override
    public void beforeStep(Scheduler scheduler) {
        try {
            opened.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
        next.beforeStep(scheduler);
    }

    @Override
    public boolean letsAhead() {
        return next.letsAhead();
    }
}
