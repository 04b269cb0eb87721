package roselle.engine;

import roselle.backend.memory.SpareMemory;

/** Hears how the start of an engine gets on, on the thread that opens it. */
public interface StartObserver {
    /** One that does not listen. */
    StartObserver NONE = new StartObserver() {};

    /** The sizes are settled, and nothing is loaded yet. */
    default void planned(EnginePlan plan) {}

    /** Bytes that keys and values take at first; the device has memory for these alone where it can give it to pages later. */
    default long firstCacheBytes(EnginePlan plan) {
        return plan.kvBytes();
    }

    /** Memory that models before this one may have left; where the device's is the machine's, it begins with that. */
    default SpareMemory spareMemory() {
        return new SpareMemory();
    }

    /**
     * Some weights are loaded: called after each matrix, and once with all of them.
     *
     * @param bytes of the model's files that are done
     * @param totalBytes of the model's tensors
     */
    default void loaded(long bytes, long totalBytes) {}
}
