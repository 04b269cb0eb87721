package roselle.cpu.machine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Code of ours in memory that was writable, then became executable and is no longer writable; never both.
 *
 * <p>Each routine begins at a multiple of 64 bytes. What is between them traps.
 */
public final class ExecutableMemory implements AutoCloseable {
    private static final int ALIGNMENT = 64;
    private static final byte TRAP = (byte) 0xCC;
    private static final long PAGE = 4096;

    private final MemorySegment memory;
    private final List<MemorySegment> routines;

    private ExecutableMemory(MemorySegment memory, List<MemorySegment> routines) {
        this.memory = memory;
        this.routines = routines;
    }

    /** Maps routines; empty where the system refuses executable memory. */
    public static Optional<ExecutableMemory> of(List<byte[]> codes) {
        long size = codes.stream().mapToLong(code -> aligned(code.length)).sum();
        MemorySegment memory = SystemCalls.mmap((size + PAGE - 1) / PAGE * PAGE);
        memory.fill(TRAP);
        var routines = new ArrayList<MemorySegment>();
        long at = 0;
        for (byte[] code : codes) {
            MemorySegment.copy(code, 0, memory, ValueLayout.JAVA_BYTE, at, code.length);
            routines.add(memory.asSlice(at, code.length));
            at += aligned(code.length);
        }
        if (!SystemCalls.mprotect(memory, SystemCalls.READ | SystemCalls.EXECUTE)) {
            SystemCalls.munmap(memory);
            return Optional.empty();
        }
        return Optional.of(new ExecutableMemory(memory, List.copyOf(routines)));
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** The routines in the order in which they were given. */
    public List<MemorySegment> routines() {
        return routines;
    }

    @Override
    public void close() {
        SystemCalls.munmap(memory);
    }
}
