package roselle.cpu.machine;

import java.lang.foreign.MemorySegment;

/** A piece of memory between two pages that nobody may touch: code that reads or writes beyond either end dies. */
public final class GuardedMemory implements AutoCloseable {
    private static final long PAGE = 4096;

    private final MemorySegment mapped;
    private final long room;

    public GuardedMemory(long most) {
        room = (most + PAGE - 1) / PAGE * PAGE;
        mapped = SystemCalls.mmap(room + 2 * PAGE);
        boolean isGuarded = SystemCalls.mprotect(mapped.asSlice(0, PAGE), 0)
                && SystemCalls.mprotect(mapped.asSlice(PAGE + room, PAGE), 0);
        if (!isGuarded) {
            throw new IllegalStateException("no guard pages");
        }
    }

    /** Bytes that end where the upper guard begins. */
    public MemorySegment upToTheEnd(long bytes) {
        return mapped.asSlice(PAGE + room - bytes, bytes);
    }

    /** Bytes that begin where the lower guard ends. */
    public MemorySegment fromTheStart(long bytes) {
        return mapped.asSlice(PAGE, bytes);
    }

    @Override
    public void close() {
        SystemCalls.munmap(mapped);
    }
}
