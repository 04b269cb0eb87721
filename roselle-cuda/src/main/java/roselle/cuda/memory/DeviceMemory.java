package roselle.cuda.memory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.cuda.driver.Driver;

/**
 * Device memory that lives until it closes: large pieces on their own, small ones from slabs.
 *
 * <p>Where the device can, weights and scratch {@link #giveUp give their memory up} for a while, and the weights wait in the host's
 * memory. Addresses never change, so what was recorded of steps stays right. The rest, which is small, stays.
 */
public final class DeviceMemory implements AutoCloseable {
    private static final long SLAB_BYTES = 2 << 20;
    private static final long LARGE_BYTES = SLAB_BYTES / 2;
    private static final long ALIGNMENT = 256;

    /** What is smaller is not worth chunks that can go to others. */
    private static final long ELASTIC_BYTES = 16 << 20;

    private final Driver driver;
    private final int device;
    private final long unit;
    private final Set<Long> taken = new LinkedHashSet<>();
    private @Nullable GrowingMemory weights;
    private @Nullable GrowingMemory scratch;
    private final List<ElasticMemory> elastic = new ArrayList<>();
    private long takenBytes;
    private long slab;
    private long slabLeft;

    DeviceMemory(Driver driver, int device) {
        this.driver = driver;
        this.device = device;
        unit = driver.backingUnit(device);
    }

    /** Bytes that the device gave, without elastic memory. */
    long takenBytes() {
        return takenBytes;
    }

    /**
     * Takes memory, aligned to 256 bytes; what is in it is not defined.
     *
     * @throws DeviceException with both numbers if there is not that much
     */
    public long allocate(long bytes) {
        long rounded = rounded(bytes);
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

    private static long rounded(long bytes) {
        return (Math.max(1, bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** The same for what is written once before the first step. */
    public long allocateWeights(long bytes) {
        if (unit == 0) {
            return allocate(bytes);
        }
        if (weights == null) {
            weights = reserveAll();
        }
        return take(weights, rounded(bytes));
    }

    /** The same for what may be zeros when memory was given up and is there again. */
    public long allocateScratch(long bytes) {
        if (unit == 0 || rounded(bytes) < LARGE_BYTES) {
            return allocate(bytes);
        }
        if (scratch == null) {
            scratch = reserveAll();
        }
        return take(scratch, rounded(bytes));
    }

    private GrowingMemory reserveAll() {
        return new GrowingMemory(driver, device, driver.memory().total(), unit);
    }

    private long take(GrowingMemory from, long bytes) {
        long address = from.take(bytes);
        if (address == 0) {
            throw tooMuch(bytes);
        }
        takenBytes += bytes;
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
            throw tooMuch(bytes);
        }
        taken.add(address);
        takenBytes += bytes;
        return address;
    }

    private DeviceException tooMuch(long bytes) {
        return new DeviceException(String.format(
                Locale.ROOT,
                "the device has %.2f GiB free and %.2f GiB more are needed, after %.2f GiB: choose a smaller"
                        + " context, fewer sequences, a smaller KV cache, or a smaller model",
                gibibytes(driver.memory().free()),
                gibibytes(bytes),
                gibibytes(takenBytes)));
    }

    private static double gibibytes(long bytes) {
        return bytes / (double) (1 << 30);
    }

    /** Whether memory can be given up while addresses stay. */
    public boolean isElastic() {
        return unit > 0;
    }

    /** Whether so many bytes are worth addresses of their own. */
    public boolean isLarge(long bytes) {
        return bytes >= ELASTIC_BYTES;
    }

    /** Addresses without memory. */
    public ElasticMemory reserve(long bytes) {
        var reserved = new ElasticMemory(driver, device, bytes, unit);
        elastic.add(reserved);
        return reserved;
    }

    private static Stream<BackedPiece> pieces(@Nullable GrowingMemory memory) {
        return memory == null ? Stream.empty() : memory.pieces().stream();
    }

    private List<BackedPiece> pieces() {
        return Stream.concat(pieces(weights), pieces(scratch)).toList();
    }

    /**
     * Gives up the memory of weights and scratch; weights are in the host's memory then. Nothing that the stream was given may use
     * them after this.
     *
     * @throws CapacityException if the host has not that much memory; nothing has been given up then
     */
    void giveUp(long stream) {
        try {
            if (weights != null) {
                weights.save(stream);
            }
            driver.synchronize(stream);
        } catch (DeviceException failure) {
            var cleanup = new Cleanup();
            cleanup.then(() -> driver.synchronize(stream)); // no copy may be under way
            if (weights != null) {
                weights.dropCopies(cleanup);
            }
            throw new CapacityException(
                    "the machine has no memory for what the model has on the device: " + failure.getMessage(), failure);
        }
        Stream.of(weights, scratch).filter(Objects::nonNull).forEach(GrowingMemory::giveUp);
    }

    /**
     * Has the memory again that was given up; what it held is there in the order of a stream.
     *
     * @throws CapacityException if the device has not that much; nothing has been taken then
     */
    void takeBack(long stream) {
        List<BackedPiece> missing =
                pieces().stream().filter(piece -> !piece.isBacked()).toList();
        for (BackedPiece piece : missing) {
            if (!piece.back()) {
                driver.synchronize(stream);
                missing.forEach(BackedPiece::giveUp);
                throw new CapacityException(String.format(
                        Locale.ROOT,
                        "the model needs %.2f GiB of the device's memory again, and %.2f GiB are free",
                        gibibytes(missing.stream().mapToLong(BackedPiece::bytes).sum()),
                        gibibytes(driver.memory().free())));
            }
            piece.restore(stream);
        }
    }

    @Override
    public void close() {
        var cleanup = new Cleanup();
        for (long address : taken) {
            cleanup.then(() -> driver.free(address));
        }
        for (GrowingMemory each : new GrowingMemory[] {weights, scratch}) {
            if (each != null) {
                each.close(cleanup);
            }
        }
        elastic.forEach(each -> cleanup.then(each::close));
        taken.clear();
        weights = null;
        scratch = null;
        elastic.clear();
        takenBytes = 0;
        slabLeft = 0;
        cleanup.finish();
    }
}
