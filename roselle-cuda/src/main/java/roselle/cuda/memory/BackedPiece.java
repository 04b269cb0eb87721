package roselle.cuda.memory;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.cuda.driver.Driver;

/** Memory at reserved addresses of a device, which can go to others for a while; the host has what it held then. */
final class BackedPiece {
    private final Driver driver;
    private final int device;
    private final long address;
    private final long bytes;
    private @Nullable MemorySegment copy; // one with those of other pieces
    private long copyStart; // of this piece's
    private boolean isBacked;

    /** Without memory yet. */
    BackedPiece(Driver driver, int device, long address, long bytes) {
        this.driver = driver;
        this.device = device;
        this.address = address;
        this.bytes = bytes;
    }

    long bytes() {
        return bytes;
    }

    boolean isBacked() {
        return isBacked;
    }

    /** Has memory; false where there is not that much. */
    boolean back() {
        isBacked = isBacked || driver.back(address, bytes, device);
        return isBacked;
    }

    /** Whether it holds what the host has not. */
    boolean isUnsaved() {
        return isBacked && copy == null;
    }

    /** Copies what it holds to a part of the host's memory, in the order of a stream. */
    void save(MemorySegment target, long start, long stream) {
        copy = target;
        copyStart = start;
        driver.copyOut(target.asSlice(start, bytes), address, bytes, stream);
    }

    /** Forgets the host's copy, which is another's to free. */
    void forgetCopy() {
        copy = null;
    }

    /** Writes what the host has, or zeros, in the order of a stream. */
    void restore(long stream) {
        MemorySegment source = copy;
        if (source == null) {
            driver.clear(address, bytes, stream);
        } else {
            driver.copyIn(address, source.asSlice(copyStart, bytes), bytes, stream);
        }
    }

    /** Whether one piece can stand for this one and that behind it: neither has memory, and what the host has of them adjoins too. */
    boolean canJoin(BackedPiece next) {
        return !isBacked
                && !next.isBacked
                && Objects.equals(copy, next.copy)
                && (copy == null || copyStart + bytes == next.copyStart);
    }

    /** This one and that behind it as one. */
    BackedPiece join(BackedPiece next) {
        var joined = new BackedPiece(driver, device, address, bytes + next.bytes);
        joined.copy = copy;
        joined.copyStart = copyStart;
        return joined;
    }

    void giveUp() {
        if (isBacked) {
            isBacked = false;
            driver.unback(address, bytes);
        }
    }
}
