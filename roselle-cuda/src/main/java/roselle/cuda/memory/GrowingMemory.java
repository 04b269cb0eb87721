package roselle.cuda.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import roselle.cuda.driver.Driver;

/** Device memory at addresses that follow each other; it grows, and all of it can go to others for a while. */
final class GrowingMemory {
    /** Pieces that come back have about so much: fewer take fewer calls of the driver, of which a copy waits for the first alone. */
    private static final long JOINED_BYTES = 256 << 20;

    private final Driver driver;
    private final int device;
    private final long unit;
    private final long reservedBytes;
    private final long address;
    private final List<BackedPiece> pieces = new ArrayList<>();
    private final List<MemorySegment> copies = new ArrayList<>(); // on the host, of one or more pieces each
    private long end; // of what was taken
    private long backedEnd;

    /** Reserves addresses for at most so many bytes. */
    GrowingMemory(Driver driver, int device, long bytes, long unit) {
        this.driver = driver;
        this.device = device;
        this.unit = unit;
        reservedBytes = Math.ceilDiv(bytes, unit) * unit;
        address = driver.reserve(reservedBytes);
    }

    /** Takes so many bytes; address 0 where there are not that many. */
    long take(long bytes) {
        long missing = Math.max(0, end + bytes - backedEnd);
        long backed = Math.ceilDiv(missing, unit) * unit;
        if (backed > reservedBytes - backedEnd) {
            return 0;
        }
        if (backed > 0) {
            var piece = new BackedPiece(driver, device, address + backedEnd, backed);
            if (!piece.back()) {
                return 0;
            }
            pieces.add(piece);
            backedEnd += backed;
        }
        long taken = address + end;
        end += bytes;
        return taken;
    }

    List<BackedPiece> pieces() {
        return pieces;
    }

    /** Copies what the host has not yet to its memory, in the order of a stream: into one piece there, which is pinned at once. */
    void save(long stream) {
        List<BackedPiece> unsaved =
                pieces.stream().filter(BackedPiece::isUnsaved).toList();
        if (unsaved.isEmpty()) {
            return;
        }
        MemorySegment target = driver.allocatePinned(
                unsaved.stream().mapToLong(BackedPiece::bytes).sum());
        copies.add(target);
        long from = 0;
        for (BackedPiece piece : unsaved) {
            piece.save(target, from, stream);
            from += piece.bytes();
        }
    }

    /** Gives up all memory; it comes back in larger pieces, since addresses alone matter. */
    void giveUp() {
        pieces.forEach(BackedPiece::giveUp);
        List<BackedPiece> joined = new ArrayList<>();
        for (BackedPiece piece : pieces) {
            BackedPiece last = joined.isEmpty() ? null : joined.getLast();
            if (last != null && last.bytes() + piece.bytes() <= JOINED_BYTES && last.canJoin(piece)) {
                joined.set(joined.size() - 1, last.join(piece));
            } else {
                joined.add(piece);
            }
        }
        pieces.clear();
        pieces.addAll(joined);
    }

    /** Frees what the host has. */
    void dropCopies(Cleanup steps) {
        pieces.forEach(BackedPiece::forgetCopy);
        copies.forEach(copy -> steps.then(() -> driver.freePinned(copy)));
        copies.clear();
    }

    void close(Cleanup steps) {
        pieces.forEach(piece -> steps.then(piece::giveUp));
        dropCopies(steps);
        steps.then(() -> driver.unreserve(address, reservedBytes));
    }
}
