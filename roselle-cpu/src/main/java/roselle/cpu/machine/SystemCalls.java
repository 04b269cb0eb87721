package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import roselle.api.DeviceException;

/** The C library's functions for memory, and calls into code of our own; Linux on x86-64 only. */
@SuppressWarnings("restricted") // the launcher and the manifest grant this module native access
public final class SystemCalls {
    static final int READ = 1;
    static final int WRITE = 2;
    static final int EXECUTE = 4;

    private static final int PRIVATE_ANONYMOUS = 0x22;
    private static final int DO_NOT_NEED = 4;
    private static final int HUGE_PAGES = 14;
    private static final int POPULATE_FOR_WRITING = 23;
    private static final long ARCH_PRCTL = 158;
    private static final long REQUEST_PERMISSION = 0x1023;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MMAP = function(
            "mmap", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = function("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle MPROTECT =
            function("mprotect", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MADVISE =
            function("madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SYSCALL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("syscall"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle CODE =
            LINKER.downcallHandle(FunctionDescriptor.ofVoid(JAVA_LONG), Linker.Option.critical(false));

    private SystemCalls() {}

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor);
    }

    /** Memory from {@link #mmap} that can be reached until an arena closes. */
    static MemorySegment within(Arena lifetime, MemorySegment memory) {
        return memory.reinterpret(lifetime, null);
    }

    /** Zeroed private memory for reading and writing, or an exception. */
    static MemorySegment mmap(long bytes) {
        try {
            var memory = (MemorySegment)
                    MMAP.invokeExact(MemorySegment.NULL, bytes, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0L);
            if (memory.address() == -1) {
                throw new DeviceException("the system refuses " + bytes
                        + " bytes of memory for weights, keys and values or code: let other processes have less, raise this"
                        + " one's limit, or choose a smaller model or context");
            }
            return memory.reinterpret(bytes);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static void munmap(MemorySegment memory) {
        try {
            int status = (int) MUNMAP.invokeExact(memory, memory.byteSize());
            assert status == 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Whether the system granted it. */
    static boolean mprotect(MemorySegment memory, int protection) {
        try {
            return (int) MPROTECT.invokeExact(memory, memory.byteSize(), protection) == 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Asks for huge pages; a system without them changes nothing. */
    static void adviseHugePages(MemorySegment memory) {
        try {
            int status = (int) MADVISE.invokeExact(memory, memory.byteSize(), HUGE_PAGES);
            assert status <= 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Has whole pages backed; a system before Linux 5.14 changes nothing. */
    static void populate(long address, long bytes) {
        try {
            int status = (int) MADVISE.invokeExact(MemorySegment.ofAddress(address), bytes, POPULATE_FOR_WRITING);
            assert status <= 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Gives whole pages back; they read as zeros, and writing takes them again. */
    static void discard(long address, long bytes) {
        try {
            int status = (int) MADVISE.invokeExact(MemorySegment.ofAddress(address), bytes, DO_NOT_NEED);
            assert status == 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Asks for the right to use a processor state; whether the system granted it. */
    static boolean requestPermission(long state) {
        try {
            return (long) SYSCALL.invokeExact(ARCH_PRCTL, REQUEST_PERMISSION, state) == 0;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Runs code of ours with one argument; it must end within a millisecond, since a safepoint waits for it. */
    public static void call(MemorySegment code, long argument) {
        try {
            CODE.invokeExact(code, argument);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    private static RuntimeException unexpected(Throwable failure) {
        return switch (failure) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> new IllegalStateException(failure);
        };
    }
}
