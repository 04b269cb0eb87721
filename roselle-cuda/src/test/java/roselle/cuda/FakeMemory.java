package roselle.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** A fake device's memory: pieces with gaps between them, and their bytes as far as anything was written. */
final class FakeMemory {
    /** Addresses that no host memory and no small number has. */
    static final long FIRST_ADDRESS = 0x0D00_0000_0000_0000L;

    /** Reserved addresses get memory in multiples of this. */
    static final long UNIT = 2 << 20;

    private static final long GAP = 1 << 20;
    private static final int CHUNK = 1 << 14;

    private final long totalBytes;
    private final TreeMap<Long, Long> pieces = new TreeMap<>(); // address to bytes
    private final TreeMap<Long, Long> reserved = new TreeMap<>(); // address to bytes
    private final Map<Long, byte[]> chunks = new HashMap<>(); // by address / CHUNK
    private long nextAddress = FIRST_ADDRESS;
    private long usedBytes;
    private long mostUsedBytes;

    FakeMemory(long totalBytes) {
        this.totalBytes = totalBytes;
    }

    long totalBytes() {
        return totalBytes;
    }

    long usedBytes() {
        return usedBytes;
    }

    long mostUsedBytes() {
        return mostUsedBytes;
    }

    int pieceCount() {
        return pieces.size();
    }

    /** Address 0 where there is not that much. */
    long allocate(long bytes) {
        if (bytes <= 0) {
            throw new AssertionError("an allocation of " + bytes + " bytes");
        }
        if (bytes > totalBytes - usedBytes) {
            return 0;
        }
        long address = nextAddress;
        nextAddress += (bytes + GAP - 1) / GAP * GAP + GAP;
        pieces.put(address, bytes);
        usedBytes += bytes;
        mostUsedBytes = Math.max(mostUsedBytes, usedBytes);
        return address;
    }

    void free(long address) {
        Long bytes = pieces.remove(address);
        if (bytes == null) {
            throw new AssertionError(
                    "memory at " + Long.toHexString(address) + " was not allocated, or is free already");
        }
        usedBytes -= bytes;
        for (long chunk = address / CHUNK; chunk <= (address + bytes - 1) / CHUNK; chunk++) {
            chunks.remove(chunk);
        }
    }

    /** Reserved addresses without memory. */
    int reservedCount() {
        return (int) reserved.entrySet().stream()
                .filter(each -> !hasMemory(each.getKey(), each.getValue()))
                .count();
    }

    private boolean hasMemory(long address, long bytes) {
        return !pieces.subMap(address, address + bytes).isEmpty();
    }

    long reserve(long bytes) {
        if (bytes <= 0 || bytes % UNIT != 0) {
            throw new AssertionError("a reservation of " + bytes + " bytes");
        }
        long address = (nextAddress + UNIT - 1) / UNIT * UNIT;
        nextAddress = address + bytes + GAP;
        reserved.put(address, bytes);
        return address;
    }

    /** False where some of it still has memory. */
    boolean unreserve(long address, long bytes) {
        if (hasMemory(address, bytes)) {
            return false;
        }
        if (!reserved.remove(address, bytes)) {
            throw new AssertionError("addresses at " + Long.toHexString(address) + " were not reserved so");
        }
        return true;
    }

    /** False where there is not that much. */
    boolean back(long address, long bytes) {
        Map.Entry<Long, Long> place = reserved.floorEntry(address);
        if (place == null
                || address + bytes > place.getKey() + place.getValue()
                || address % UNIT != 0
                || bytes % UNIT != 0) {
            throw new AssertionError("no addresses are reserved for " + bytes + " at " + Long.toHexString(address));
        }
        if (hasMemory(address, bytes)) {
            throw new AssertionError("addresses at " + Long.toHexString(address) + " have memory already");
        }
        if (bytes > totalBytes - usedBytes) {
            return false;
        }
        pieces.put(address, bytes);
        usedBytes += bytes;
        mostUsedBytes = Math.max(mostUsedBytes, usedBytes);
        return true;
    }

    void unback(long address, long bytes, boolean isUnused) {
        if (!isUnused || !Long.valueOf(bytes).equals(pieces.get(address))) {
            throw new AssertionError("memory at " + Long.toHexString(address) + " is in use, or was not given so");
        }
        free(address);
    }

    void freeAll() {
        pieces.clear();
        reserved.clear();
        chunks.clear();
        usedBytes = 0;
    }

    static boolean looksLikeAnAddress(long number) {
        return number >= FIRST_ADDRESS && number < FIRST_ADDRESS + (1L << 48);
    }

    /** Fails unless the bytes lie in one live piece, or in addresses reserved together, of which kernels read what has memory. */
    void requireAddresses(String what, long address, long bytes) {
        Map.Entry<Long, Long> place = reserved.floorEntry(address);
        if (place == null || address + bytes > place.getKey() + place.getValue()) {
            requireLive(what, address, bytes);
        }
    }

    /** Fails unless the bytes lie in one live piece. */
    void requireLive(String what, long address, long bytes) {
        Map.Entry<Long, Long> piece = pieces.floorEntry(address);
        long end = address;
        while (piece != null && piece.getKey() + piece.getValue() > end && end < address + bytes) {
            end = piece.getKey() + piece.getValue(); // pieces of reserved addresses may follow each other
            piece = pieces.floorEntry(end);
        }
        piece = pieces.floorEntry(address);
        if (end < address + bytes) {
            throw new AssertionError(what + " reaches " + bytes + " bytes at " + Long.toHexString(address)
                    + ", which are not inside allocated memory"
                    + (piece == null
                            ? ""
                            : ": the piece before has " + piece.getValue() + " bytes at "
                                    + Long.toHexString(piece.getKey())));
        }
    }

    void write(long address, MemorySegment source) {
        for (long done = 0; done < source.byteSize(); ) {
            int offset = (int) ((address + done) % CHUNK);
            int count = (int) Math.min(CHUNK - offset, source.byteSize() - done);
            byte[] chunk = chunks.computeIfAbsent((address + done) / CHUNK, unknown -> new byte[CHUNK]);
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, done, chunk, offset, count);
            done += count;
        }
    }

    void read(long address, MemorySegment target) {
        for (long done = 0; done < target.byteSize(); ) {
            int offset = (int) ((address + done) % CHUNK);
            int count = (int) Math.min(CHUNK - offset, target.byteSize() - done);
            byte[] chunk = chunks.get((address + done) / CHUNK);
            if (chunk == null) {
                target.asSlice(done, count).fill((byte) 0);
            } else {
                MemorySegment.copy(chunk, offset, target, ValueLayout.JAVA_BYTE, done, count);
            }
            done += count;
        }
    }

    void clear(long address, long bytes) {
        for (long chunk = address / CHUNK; chunk <= (address + bytes - 1) / CHUNK; chunk++) {
            byte[] content = chunks.get(chunk);
            if (content != null) {
                int from = (int) Math.max(0, address - chunk * CHUNK);
                int until = (int) Math.min(CHUNK, address + bytes - chunk * CHUNK);
                java.util.Arrays.fill(content, from, until, (byte) 0);
            }
        }
    }
}
