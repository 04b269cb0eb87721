package roselle.backend.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Memory of the machine that models leave to those that come in their place; thread-safe.
 *
 * <p>A system clears what it gives, page by page, and takes longer for that than weights take to be written. It has no more than it
 * was left: each piece that is asked for is found, or as much is returned to the system as will be taken of it anew.
 */
public final class SpareMemory {
    private record Piece(MemorySegment memory, Consumer<MemorySegment> free) {
        long bytes() {
            return memory.byteSize();
        }

        Piece slice(long from, long bytes) {
            return new Piece(memory.asSlice(from, bytes), free);
        }

        void release() {
            free.accept(memory);
        }
    }

    private final List<Piece> pieces = new ArrayList<>();
    private int closing;

    /** Has nothing. */
    public SpareMemory() {}

    /** Runs what closes devices, and keeps what they leave, until {@link #drop}. */
    public void keepFrom(Runnable closes) {
        count(1);
        try {
            closes.run();
        } finally {
            count(-1);
        }
    }

    private synchronized void count(int more) {
        closing += more;
    }

    /**
     * Takes memory over that nothing uses any more.
     *
     * @param free returns it, or a part of it, to the system
     * @return false where nobody wants it: then it is still the caller's
     */
    public synchronized boolean leave(MemorySegment memory, Consumer<MemorySegment> free) {
        if (closing > 0) {
            pieces.add(new Piece(memory, free));
        }
        return closing > 0;
    }

    /** The smallest piece of at least so many bytes, cut to them, with whatever is in it; where there is none, so many are returned. */
    public synchronized Optional<MemorySegment> take(long bytes) {
        int best = -1;
        for (int i = 0; i < pieces.size(); i++) {
            long size = pieces.get(i).bytes();
            if (size >= bytes && (best < 0 || size < pieces.get(best).bytes())) {
                best = i;
            }
        }
        if (best < 0) {
            release(bytes);
            return Optional.empty();
        }
        Piece found = pieces.remove(best);
        if (found.bytes() > bytes) {
            pieces.add(found.slice(bytes, found.bytes() - bytes));
        }
        return Optional.of(found.memory.asSlice(0, bytes));
    }

    /** Returns so many bytes to the system, as far as there are that many: somebody takes new ones. */
    public synchronized void release(long bytes) {
        for (long left = bytes; left > 0 && !pieces.isEmpty(); ) {
            Piece last = pieces.removeLast();
            long kept = Math.max(0, last.bytes() - left);
            left -= last.bytes() - kept;
            last.slice(kept, last.bytes() - kept).release();
            if (kept > 0) {
                pieces.add(last.slice(0, kept));
            }
        }
    }

    /** Returns all of it to the system. */
    public synchronized void drop() {
        pieces.forEach(Piece::release);
        pieces.clear();
    }

    /** What it has. */
    public synchronized long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }
}
