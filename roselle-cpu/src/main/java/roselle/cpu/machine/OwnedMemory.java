package roselle.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.backend.memory.SpareMemory;

/** Memory of ours for repacked weights, keys and values, on huge pages where the system has them; freed by {@link #close}. */
public final class OwnedMemory implements AutoCloseable {
    private static final long HUGE_PAGE = 2 << 20;
    private static final long PAGE = 4096;
    /** Kernels may read so many bytes beyond what they need: they fetch ahead. */
    private static final long SLACK = 4096;

    private final Arena lifetime = Arena.ofShared();
    private final List<MemorySegment> mapped = new ArrayList<>();
    private final List<MemorySegment> filled = new ArrayList<>(); // the same, of pieces that others may have
    private SpareMemory spare = new SpareMemory();

    /**
     * A piece that is filled by whoever took it, part by part.
     *
     * @param isUsed whether another had it before, and its bytes are still there
     */
    public record Piece(MemorySegment memory, boolean isUsed) {
        /**
         * Has a part be there before code of ours writes there: a virtual machine may take milliseconds for a huge page, and
         * a safepoint would wait for the call that it interrupts, but not for this one.
         */
        public void back(long from, long bytes) {
            if (!isUsed) {
                long first = from / PAGE * PAGE;
                long end = (from + bytes + PAGE - 1) / PAGE * PAGE;
                SystemCalls.populate(memory.address() + first, end - first);
            }
        }

        /** Has a part be zero, of which not every byte will be written. */
        public void clear(long from, long bytes) {
            if (isUsed) {
                memory.asSlice(from, bytes).fill((byte) 0);
            }
        }
    }

    /** Whole pages: what {@link #allocate} takes for so many bytes. */
    public static long taken(long bytes) {
        long page = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
        return (bytes + SLACK + page - 1) / page * page;
    }

    /** From now on it takes what others left, and leaves what was filled when it closes. */
    public void share(SpareMemory with) {
        spare = with;
    }

    /** Zeroed memory, aligned to a page; the system gives it when it is used, so what others left need not go for it. */
    public MemorySegment allocate(long bytes) {
        return within(map(bytes, mapped), bytes);
    }

    /** Memory for what is written once, parts of it by whoever has called {@link Piece#back} and {@link Piece#clear} for them; aligned to a page. */
    public Piece allocateForFilling(long bytes) {
        if (bytes < HUGE_PAGE) { // cut from a large piece it would cost the rest its huge pages
            spare.release(taken(bytes));
            return new Piece(allocate(bytes), false);
        }
        Optional<MemorySegment> left = spare.take(taken(bytes));
        left.ifPresent(filled::add);
        MemorySegment memory = left.orElseGet(() -> map(bytes, filled));
        return new Piece(within(memory, bytes), left.isPresent());
    }

    private static MemorySegment map(long bytes, List<MemorySegment> keeper) {
        MemorySegment memory = SystemCalls.mmap(taken(bytes));
        if (bytes >= HUGE_PAGE) {
            SystemCalls.adviseHugePages(memory);
        }
        keeper.add(memory);
        return memory;
    }

    private MemorySegment within(MemorySegment memory, long bytes) {
        return SystemCalls.within(lifetime, memory.asSlice(0, bytes));
    }

    /** Gives the whole pages within a part of such memory back to the system, until somebody writes there again. */
    public static void discard(MemorySegment memory, long from, long bytes) {
        long first = (from + PAGE - 1) / PAGE * PAGE;
        long end = (from + bytes) / PAGE * PAGE;
        if (end > first) {
            SystemCalls.discard(memory.address() + first, end - first);
        }
    }

    @Override
    public void close() {
        lifetime.close();
        mapped.forEach(SystemCalls::munmap);
        mapped.clear();
        for (MemorySegment memory : filled) {
            if (!spare.leave(memory, SystemCalls::munmap)) {
                SystemCalls.munmap(memory);
            }
        }
        filled.clear();
    }
}
