package roselle.cli;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jline.utils.Signals;

/**
 * The first SIGTERM or SIGINT ends the process in order, through its shutdown hooks; a later one ends it at once, whatever the
 * hooks still wait for.
 *
 * <p>Signals that follow within a moment count as one: programs that start others pass on what the terminal has sent to all.
 */
final class EndSignals {
    private static final long MOMENT_NANOS = Duration.ofMillis(250).toNanos();
    private static final long NOT_BEGUN = Long.MIN_VALUE;
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;

    private final AtomicLong begun = new AtomicLong(NOT_BEGUN);

    /** From now on. */
    void listen() {
        Signals.register("TERM", () -> signalled(TERMINATED));
        Signals.register("INT", () -> signalled(INTERRUPTED));
    }

    /** The end has begun, for whatever reason; returns whether it had not before. */
    boolean begin() {
        return begun.compareAndSet(NOT_BEGUN, System.nanoTime());
    }

    private void signalled(int status) {
        if (begin()) {
            System.exit(ExitCode.OK.status());
        } else if (System.nanoTime() - begun.get() > MOMENT_NANOS) {
            System.err.println("roselle: ended at once, because of a second signal");
            System.err.flush();
            Runtime.getRuntime().halt(status);
        }
    }
}
