package roselle.server.pool;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** A loaded model in somebody's hands: it is not unloaded before this is closed. */
public final class Lease<E> implements AutoCloseable {
    private final ModelPool<E> pool;
    private final PoolEntry<E> entry;
    private final E model;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    Lease(ModelPool<E> pool, PoolEntry<E> entry, E model) {
        this.pool = pool;
        this.entry = entry;
        this.model = model;
    }

    public E model() {
        return model;
    }

    /** How long the model stays after its last request; zero: not at all; negative: until its memory is needed. */
    public void keepAlive(Duration time) {
        pool.keepAlive(entry, time);
    }

    @Override
    public void close() {
        if (!isClosed.getAndSet(true)) {
            pool.release(entry);
        }
    }
}
