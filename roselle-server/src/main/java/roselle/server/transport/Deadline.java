package roselle.server.transport;

import java.time.Duration;

/** Moments of the JVM's clock by which something must have happened. */
public final class Deadline {
    /** In the place of a deadline: there is none. */
    public static final long NONE = Long.MIN_VALUE;

    private Deadline() {}

    public static long in(Duration limit) {
        return System.nanoTime() + limit.toNanos();
    }

    public static boolean isOver(long deadline, long now) {
        return deadline != NONE && now - deadline > 0;
    }
}
