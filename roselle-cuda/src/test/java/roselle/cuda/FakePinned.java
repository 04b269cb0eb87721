package roselle.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A fake driver's pinned memory; one that is used after it was freed throws. */
@SuppressWarnings("restricted")
final class FakePinned {
    private static final MethodHandle CALLOC = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("calloc"),
                    FunctionDescriptor.of(ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FREE = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("free"), FunctionDescriptor.ofVoid(ADDRESS));

    private final Map<Long, Arena> arenas = new HashMap<>(); // by address
    private final TreeMap<Long, MemorySegment> pieces = new TreeMap<>(); // by address

    int count() {
        return arenas.size();
    }

    MemorySegment allocate(long bytes) {
        try {
            Arena arena = Arena.ofShared();
            var address = (MemorySegment) CALLOC.invokeExact(1L, Math.max(1, bytes));
            arenas.put(address.address(), arena);
            MemorySegment piece = address.reinterpret(bytes, arena, FakePinned::giveBack);
            pieces.put(address.address(), piece);
            return piece;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void giveBack(MemorySegment address) {
        try {
            FREE.invokeExact(address);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    void free(MemorySegment segment) {
        Arena arena = arenas.remove(segment.address());
        if (arena == null) {
            throw new AssertionError("pinned memory was freed that was not allocated");
        }
        pieces.remove(segment.address());
        arena.close();
    }

    /** Bytes of it at an address, or null where it has none there. */
    @Nullable
    MemorySegment at(long address, long bytes) {
        Map.Entry<Long, MemorySegment> piece = pieces.floorEntry(address);
        long offset = piece == null ? 0 : address - piece.getKey();
        return piece == null || offset + bytes > piece.getValue().byteSize()
                ? null
                : piece.getValue().asSlice(offset, bytes);
    }

    void freeAll() {
        List.copyOf(arenas.values()).forEach(Arena::close);
        arenas.clear();
        pieces.clear();
    }

    /** Whether a segment is a piece of it, or lies inside one. */
    boolean contains(MemorySegment segment) {
        return arenas.containsKey(segment.address())
                || arenas.values().stream().anyMatch(arena -> arena.scope().equals(segment.scope()));
    }
}
