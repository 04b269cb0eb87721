package roselle.server;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an engine's steps take as long as a test needs, so that what is to happen within an answer does, however fast the machine
 * is or however late the test's thread gets its turn.
 */
final class Pace implements Runnable {
    private static final long GLANCE_NANOS = 1_000_000;

    private volatile boolean isHeld;
    private volatile boolean isWithinStep;
    private volatile long stepNanos;

    /** Ends no step until {@link #go}. */
    void hold() {
        isHeld = true;
    }

    /** Whether a step has begun that may not end. */
    boolean holdsAStep() {
        return isHeld && isWithinStep;
    }

    /** Every step takes this long at least. */
    void slow(Duration step) {
        stepNanos = step.toNanos();
    }

    /** As fast as the machine can, from now on. */
    void go() {
        stepNanos = 0;
        isHeld = false;
    }

    /** Within a step, on the engine's thread. */
    @Override
    public void run() {
        isWithinStep = true;
        long begin = System.nanoTime();
        while (isHeld || System.nanoTime() - begin < stepNanos) {
            LockSupport.parkNanos(GLANCE_NANOS);
        }
        isWithinStep = false;
    }
}
