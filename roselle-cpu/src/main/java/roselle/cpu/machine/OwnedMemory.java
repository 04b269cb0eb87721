package roselle.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Memory of ours for repacked weights, keys and values, on huge pages where the system has them; freed by {@link #close}. */
public final class OwnedMemory implements AutoCloseable {
    private static final long HUGE_PAGE = 2 << 20;
    private static final long PAGE = 4096;
    /** Kernels may read so many bytes beyond what they need: they fetch ahead. */
    private static final long SLACK = 4096;

    private final Arena lifetime = Arena.ofShared();
    private final List<MemorySegment> mapped = new ArrayList<>();

    /** Whole pages: what {@link #allocate} takes for so many bytes. */
    public static long taken(long bytes) {
        long page = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
        return (bytes + SLACK + page - 1) / page * page;
    }

    /** Zeroed memory, aligned to a page. */
    public MemorySegment allocate(long bytes) {
        MemorySegment memory = SystemCalls.mmap(taken(bytes));
        if (bytes >= HUGE_PAGE) {
            SystemCalls.adviseHugePages(memory);
        }
        mapped.add(memory);
        return SystemCalls.within(lifetime, memory.asSlice(0, bytes));
    }

    /**
     * Has the system back a part of such memory before code of ours writes there: a virtual machine may take milliseconds for
     * a huge page, and a safepoint would wait for the call that it interrupts, but not for this one.
     */
    public static void back(MemorySegment memory, long from, long bytes) {
        long first = from / PAGE * PAGE;
        long end = (from + bytes + PAGE - 1) / PAGE * PAGE;
        SystemCalls.populate(memory.address() + first, end - first);
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
        for (MemorySegment memory : mapped) {
            SystemCalls.munmap(memory);
        }
        mapped.clear();
    }
}
