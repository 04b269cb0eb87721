package roselle.engine.adapter;

import roselle.backend.memory.Adapter;

/** A request's hold on an adapter, from its admission to its end. */
public final class AdapterUse {
    private final AdapterPool pool;
    private final AdapterPool.Entry entry;
    private final Adapter adapter;
    private volatile boolean hasBegun;

    AdapterUse(AdapterPool pool, AdapterPool.Entry entry, Adapter adapter) {
        this.pool = pool;
        this.entry = entry;
        this.adapter = adapter;
    }

    /** What its device adds. */
    public Adapter adapter() {
        return adapter;
    }

    /** What it is: the SHA-256 of its files. */
    public String digest() {
        return entry.loaded().digest();
    }

    String name() {
        return entry.loaded().name();
    }

    /** Takes note that the request's first token is there. */
    public void begins() {
        hasBegun = true;
    }

    boolean hasBegun() {
        return hasBegun;
    }

    /** Ends the hold. */
    public void end() {
        pool.end(this, entry);
    }
}
