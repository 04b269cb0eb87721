package roselle.cuda.memory;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import roselle.cuda.driver.Driver;

/** What the host shares with the device: memory that does not move, and events; all of it is returned on close. */
public final class HostMemory {
    private final Driver driver;
    private final Map<Long, MemorySegment> pieces = new HashMap<>(); // by address
    private final Set<Long> events = new HashSet<>();

    HostMemory(Driver driver) {
        this.driver = driver;
    }

    /** Takes memory that the device reads and writes in the order of its stream. */
    public MemorySegment allocate(long bytes) {
        MemorySegment piece = driver.allocatePinned(bytes);
        pieces.put(piece.address(), piece);
        return piece;
    }

    /** Returns memory that no copy uses any more. */
    public void free(MemorySegment piece) {
        pieces.remove(piece.address());
        driver.freePinned(piece);
    }

    public long createEvent() {
        long event = driver.createEvent();
        events.add(event);
        return event;
    }

    public void destroyEvent(long event) {
        events.remove(event);
        driver.destroyEvent(event);
    }

    /** Adds steps that return all that is left. */
    void close(Cleanup steps) {
        for (MemorySegment piece : pieces.values()) {
            steps.then(() -> driver.freePinned(piece));
        }
        for (long event : events) {
            steps.then(() -> driver.destroyEvent(event));
        }
        pieces.clear();
        events.clear();
    }
}
