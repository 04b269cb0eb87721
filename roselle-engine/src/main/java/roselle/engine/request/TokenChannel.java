package roselle.engine.request;

import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Carries one request's tokens from the engine's thread to the thread that reads them.
 *
 * <p>One producer, which never blocks, and one consumer, which parks while there is nothing. Entries lie in linked chunks, so
 * the memory is that of the unread tokens, and their number is bounded by the request's own limits. The producer publishes an
 * entry by the volatile write of {@code written} and then looks for a waiter; the consumer announces itself as waiter and
 * then looks at {@code written}: in every interleaving one of the two sees the other. Who waits for the last entry alone is
 * woken by it alone, in the same way.
 */
public final class TokenChannel {
    private static final int CHUNK = 64;
    private static final int SPINS = 64;

    private static final class Chunk {
        final long[] entries = new long[CHUNK];
        final @Nullable Object[] details = new @Nullable Object[CHUNK];

        @Nullable
        Chunk next;
    }

    private Chunk tail = new Chunk(); // the producer's
    private Chunk head = tail; // the consumer's
    private long read;
    private volatile long written;
    private volatile boolean isWhole;
    private volatile @Nullable Thread waiter;
    private volatile @Nullable Thread waiterForLast;

    /** Adds an entry; called by the engine's thread only. */
    void offer(long entry, @Nullable Object detail) {
        long position = written;
        int slot = (int) (position % CHUNK);
        if (slot == 0 && position > 0) {
            var chunk = new Chunk();
            tail.next = chunk;
            tail = chunk;
        }
        tail.entries[slot] = entry;
        tail.details[slot] = detail;
        written = position + 1;
        wake(waiter);
    }

    /** Adds the entry that no other follows; called by the engine's thread only. */
    void offerLast(long entry, @Nullable Object detail) {
        offer(entry, detail);
        isWhole = true;
        wake(waiterForLast);
    }

    private static void wake(@Nullable Thread parked) {
        if (parked != null) {
            LockSupport.unpark(parked);
        }
    }

    /** Waits until there is an entry to {@link #peek}. */
    public void await() {
        for (int spin = 0; spin < SPINS; spin++) {
            if (written > read) {
                return;
            }
            Thread.onSpinWait();
        }
        waiter = Thread.currentThread();
        try {
            while (written <= read) {
                park();
            }
        } finally {
            waiter = null;
        }
    }

    /** Waits until there is the last entry, and with it all others. */
    public void awaitLast() {
        waiterForLast = Thread.currentThread();
        try {
            while (!isWhole) {
                park();
            }
        } finally {
            waiterForLast = null;
        }
    }

    private void park() {
        LockSupport.park(this);
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted while waiting for a token");
        }
    }

    /** The next entry, which is there; {@link #takeDetail} must follow. */
    public long peek() {
        int slot = (int) (read % CHUNK);
        if (slot == 0 && read > 0 && head.next != null) {
            head = head.next;
        }
        return head.entries[slot];
    }

    /** The object that came with the entry of the last {@link #peek}; moves on to the next entry. */
    @Nullable
    public Object takeDetail() {
        int slot = (int) (read % CHUNK);
        Object detail = head.details[slot];
        head.details[slot] = null;
        read++;
        return detail;
    }
}
