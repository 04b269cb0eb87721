package roselle.server.transport;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where one thread waits for what others do. It is no monitor, since a virtual thread that waits for one is woken through a thread of
 * the JVM's, which must wake up itself: half of the time that the news takes.
 */
public final class Doorbell {
    private volatile @Nullable Thread waiting;

    /** Waits until a condition holds, which is looked at after each {@link #ring}; one thread at a time. */
    public void await(BooleanSupplier condition) throws InterruptedException {
        waiting = Thread.currentThread();
        try {
            while (!condition.getAsBoolean()) {
                LockSupport.park(this);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            waiting = null;
        }
    }

    /** Has the thread that waits look again; after the change, which it sees. */
    public void ring() {
        Thread thread = waiting;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
