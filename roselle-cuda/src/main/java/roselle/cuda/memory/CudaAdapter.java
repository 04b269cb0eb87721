package roselle.cuda.memory;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.Adapter;

/**
 * An adapter's matrices as kernels read them. The host has them; the device's copy comes with a step that needs it.
 *
 * <p>Where the copy is, the thread of steps alone knows.
 */
public final class CudaAdapter implements Adapter {
    private final MemorySegment packed;
    private long address;
    private long lastStep;

    /** Keeps a segment whose arena is the collector's. */
    public CudaAdapter(MemorySegment packed) {
        this.packed = packed;
    }

    @Override
    public long bytes() {
        return packed.byteSize();
    }

    public MemorySegment packed() {
        return packed;
    }

    /** The device's copy; 0 where there is none. */
    public long address() {
        return address;
    }

    public void moveTo(long place) {
        address = place;
    }

    /** The last step that had it. */
    public long lastStep() {
        return lastStep;
    }

    public void useIn(long step) {
        lastStep = step;
    }
}
