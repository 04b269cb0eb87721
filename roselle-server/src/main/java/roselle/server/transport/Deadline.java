package roselle.server.transport;

import java.time.Duration;

/** Moments of the JVM's clock by which something must have happened. */
final class Deadline {
    /** In the place of a deadline: there is none. */
    static final long NONE = Long.MIN_VALUE;

    private Deadline() {}

    static long in(Duration limit) {
        return System.nanoTime() + limit.toNanos();
    }

    static boolean isOver(long deadline, long now) {
        return deadline != NONE && now - deadline > 0;
    }
}
