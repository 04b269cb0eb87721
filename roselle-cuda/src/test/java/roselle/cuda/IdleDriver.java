package roselle.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cuda.driver.DeviceAttribute;
import roselle.cuda.driver.Driver;
import roselle.cuda.driver.Matrix;
import roselle.cuda.driver.MemoryInfo;

/** A driver of a card that is done with everything at once and computes zeros: what is left of a step is the host's time. */
final class IdleDriver implements Driver {
    private final FakeDriver.Card card;
    private final Arena arena = Arena.ofShared(); // until the process ends
    private long next = FakeMemory.FIRST_ADDRESS;
    private long copies;
    private long copiedBytes;

    IdleDriver(FakeDriver.Card card) {
        this.card = card;
    }

    /** Copies to the device so far. */
    long copies() {
        return copies;
    }

    /** What they had. */
    long copiedBytes() {
        return copiedBytes;
    }

    private long handle() {
        return next++;
    }

    @Override
    public int version() {
        return 13_000;
    }

    @Override
    public int deviceCount() {
        return 1;
    }

    @Override
    public String deviceName(int device) {
        return card.name();
    }

    @Override
    public int attribute(DeviceAttribute attribute, int device) {
        return switch (attribute) {
            case MULTIPROCESSORS -> card.multiprocessors();
            case COMPUTE_CAPABILITY_MAJOR -> card.major();
            case COMPUTE_CAPABILITY_MINOR -> card.minor();
            case SHARED_MEMORY_PER_BLOCK -> card.sharedMemory();
            case VIRTUAL_MEMORY -> 1;
        };
    }

    @Override
    public long retainContext(int device) {
        return handle();
    }

    @Override
    public void makeCurrent(long context) {}

    @Override
    public void releaseContext(int device) {}

    @Override
    public MemoryInfo memory() {
        return new MemoryInfo(card.bytes(), card.bytes());
    }

    @Override
    public long allocate(long bytes) {
        long address = next;
        next += (bytes + 511) / 256 * 256;
        return address;
    }

    @Override
    public void free(long address) {}

    @Override
    public long backingUnit(int device) {
        return 2 << 20;
    }

    @Override
    public long reserve(long bytes) {
        return allocate(bytes);
    }

    @Override
    public void unreserve(long address, long bytes) {}

    @Override
    public boolean back(long address, long bytes, int device) {
        return true;
    }

    @Override
    public void unback(long address, long bytes) {}

    @Override
    public MemorySegment allocatePinned(long bytes) {
        return arena.allocate(bytes, 64);
    }

    @Override
    public void freePinned(MemorySegment memory) {}

    @Override
    public void clear(long address, long bytes, long stream) {}

    @Override
    public void copyIn(long target, MemorySegment source, long bytes, long stream) {
        copies++;
        copiedBytes += bytes;
    }

    @Override
    public void copyOut(MemorySegment target, long source, long bytes, long stream) {}

    @Override
    public long createStream(boolean goesFirst) {
        return handle();
    }

    @Override
    public void destroyStream(long stream) {}

    @Override
    public void synchronize(long stream) {}

    @Override
    public long createEvent() {
        return handle();
    }

    @Override
    public void destroyEvent(long event) {}

    @Override
    public void recordEvent(long event, long stream) {}

    @Override
    public void awaitEvent(long event) {}

    @Override
    public float elapsedMillis(long start, long end) {
        return 0;
    }

    @Override
    public long loadModule(byte[] cubin) {
        return handle();
    }

    @Override
    public void unloadModule(long module) {}

    @Override
    public long function(long module, String name) {
        return handle();
    }

    @Override
    public void allowSharedMemory(long function, int bytes) {}

    @Override
    public void launch(MemorySegment config, long function, MemorySegment parameters) {}

    @Override
    public void encodeTensorMap(MemorySegment map, Matrix matrix, int boxRows, int boxColumns) {}

    @Override
    public void beginCapture(long stream) {}

    @Override
    public long endCapture(long stream) {
        return handle();
    }

    @Override
    public void abandonCapture(long stream) {}

    @Override
    public void launchGraph(long graph, long stream) {}

    @Override
    public void destroyGraph(long graph) {}
}
