package roselle.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Memory of ours for repacked weights, on huge pages where the system has them; freed by {@link #close}. */
public final class OwnedMemory implements AutoCloseable {
    private static final long HUGE_PAGE = 2 << 20;
    private static final long PAGE = 4096;
    /** Kernels may read so many bytes beyond what they need: they fetch ahead. */
    private static final long SLACK = 4096;

    private final Arena lifetime = Arena.ofShared();
    private final List<MemorySegment> mapped = new ArrayList<>();

    /** Zeroed memory, aligned to a page. */
    public MemorySegment allocate(long bytes) {
        boolean isHuge = bytes >= HUGE_PAGE;
        long page = isHuge ? HUGE_PAGE : PAGE;
        MemorySegment memory = SystemCalls.mmap((bytes + SLACK + page - 1) / page * page);
        if (isHuge) {
            SystemCalls.adviseHugePages(memory);
        }
        mapped.add(memory);
        return SystemCalls.within(lifetime, memory.asSlice(0, bytes));
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
