package roselle.cuda.memory;

import java.util.BitSet;
import java.util.Locale;
import java.util.function.LongPredicate;
import roselle.api.CapacityException;
import roselle.cuda.driver.Driver;

/**
 * Addresses of a device of which parts have memory and parts have none, and which never move: what recorded steps refer to stays
 * where it is, whoever has the memory meanwhile.
 *
 * <p>Memory comes and goes in chunks, each a whole number of the driver's units.
 */
public final class ElasticMemory {
    /** Larger chunks take fewer calls of the driver; more of their memory stays where pages that are used lie scattered. */
    private static final int CHUNKS = 4096;

    private static final long LARGEST_CHUNK = 32 << 20;

    private final Driver driver;
    private final int device;
    private final long address;
    private final long chunkBytes;
    private final int chunks;
    private final BitSet backed = new BitSet();

    ElasticMemory(Driver driver, int device, long bytes, long unit) {
        this.driver = driver;
        this.device = device;
        chunkBytes = Math.ceilDiv(Math.clamp(bytes / CHUNKS, unit, Math.max(unit, LARGEST_CHUNK)), unit) * unit;
        chunks = Math.toIntExact(Math.ceilDiv(bytes, chunkBytes));
        address = driver.reserve(chunks * chunkBytes);
    }

    /** Where it begins. */
    public long address() {
        return address;
    }

    public long chunkBytes() {
        return chunkBytes;
    }

    /**
     * Has memory, zeroed in the order of a stream, in those chunks that are wanted, told by the number of their first byte; where it
     * had some it keeps what is there.
     *
     * @throws CapacityException if the device has not that much; nothing has changed then
     */
    public void back(LongPredicate wanted, long stream) {
        var added = new BitSet();
        for (int chunk = 0; chunk < chunks; chunk++) {
            if (!backed.get(chunk) && wanted.test(chunk * chunkBytes)) {
                if (!driver.back(address + chunk * chunkBytes, chunkBytes, device)) {
                    driver.synchronize(stream);
                    added.stream().forEach(each -> driver.unback(address + each * chunkBytes, chunkBytes));
                    throw new CapacityException(String.format(
                            Locale.ROOT,
                            "the device has not enough memory for the pages of keys and values that are to come back: %.2f"
                                    + " GiB are free",
                            driver.memory().free() / (double) (1 << 30)));
                }
                added.set(chunk);
            }
        }
        backed.or(added);
        added.stream().forEach(chunk -> driver.clear(address + chunk * chunkBytes, chunkBytes, stream));
    }

    /** Gives up the memory of those chunks that are not wanted; nothing that the device does may use it. */
    public void giveUp(LongPredicate wanted) {
        for (int chunk = backed.nextSetBit(0); chunk >= 0; chunk = backed.nextSetBit(chunk + 1)) {
            if (!wanted.test(chunk * chunkBytes)) {
                driver.unback(address + chunk * chunkBytes, chunkBytes);
                backed.clear(chunk);
            }
        }
    }

    /** Returns the addresses too. */
    void close() {
        giveUp(_ -> false);
        driver.unreserve(address, chunks * chunkBytes);
    }
}
