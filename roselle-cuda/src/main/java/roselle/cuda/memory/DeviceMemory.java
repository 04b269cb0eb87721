package roselle.cuda.memory;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import roselle.api.DeviceException;
import roselle.cuda.driver.Driver;

/** Device memory that lives until it closes: large pieces on their own, small ones from slabs. */
public final class DeviceMemory implements AutoCloseable {
    private static final long SLAB_BYTES = 2 << 20;
    private static final long LARGE_BYTES = SLAB_BYTES / 2;
    private static final long ALIGNMENT = 256;

    private final Driver driver;
    private final Set<Long> taken = new LinkedHashSet<>();
    private long takenBytes;
    private long slab;
    private long slabLeft;

    DeviceMemory(Driver driver) {
        this.driver = driver;
    }

    /** Bytes that the device gave. */
    long takenBytes() {
        return takenBytes;
    }

    /**
     * Takes memory, aligned to 256 bytes; what is in it is not defined.
     *
     * @throws DeviceException with both numbers if there is not that much
     */
    public long allocate(long bytes) {
        long rounded = (Math.max(1, bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (rounded >= LARGE_BYTES) {
            return take(rounded);
        }
        if (rounded > slabLeft) {
            slab = take(SLAB_BYTES);
            slabLeft = SLAB_BYTES;
        }
        long address = slab;
        slab += rounded;
        slabLeft -= rounded;
        return address;
    }

    /**
     * Takes memory of its own that {@link #giveBack} returns before the rest.
     *
     * @throws DeviceException with both numbers if there is not that much
     */
    public long borrow(long bytes) {
        return take(bytes);
    }

    /** Returns what {@link #borrow} took. */
    public void giveBack(long address, long bytes) {
        taken.remove(address);
        takenBytes -= bytes;
        driver.free(address);
    }

    private long take(long bytes) {
        long address = driver.allocate(bytes);
        if (address == 0) {
            throw new DeviceException(String.format(
                    Locale.ROOT,
                    "the device has %.2f GiB free and %.2f GiB more are needed, after %.2f GiB: choose a smaller"
                            + " context, fewer sequences, a smaller KV cache, or a smaller model",
                    gibibytes(driver.memory().free()),
                    gibibytes(bytes),
                    gibibytes(takenBytes)));
        }
        taken.add(address);
        takenBytes += bytes;
        return address;
    }

    private static double gibibytes(long bytes) {
        return bytes / (double) (1 << 30);
    }

    @Override
    public void close() {
        var cleanup = new Cleanup();
        for (long address : taken) {
            cleanup.then(() -> driver.free(address));
        }
        taken.clear();
        takenBytes = 0;
        slabLeft = 0;
        cleanup.finish();
    }
}
