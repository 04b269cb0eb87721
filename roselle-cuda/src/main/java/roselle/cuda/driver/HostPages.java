package roselle.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Memory of this machine for much that is to be pinned: on huge pages where the system has them, and all of it there already.
 *
 * <p>A driver that pins memory of its own has the system clear each page of 4 KiB on one thread, which takes most of the time. Here
 * several threads do that, and the driver then finds pages that are there, and few of them.
 */
@SuppressWarnings("restricted")
final class HostPages implements AutoCloseable {
    /** What is smaller is not worth pages of its own. */
    static final long LEAST_BYTES = 64L << 20;

    private static final int READ_AND_WRITE = 3;
    private static final int PRIVATE_ANONYMOUS = 0x22;
    private static final int HUGE_PAGES = 14; // an advice
    private static final long HUGE_PAGE = 2 << 20;
    private static final long PAGE = 4096;

    /** Bytes that one thread clears at a time. */
    private static final long TURN = 32L << 20;

    private static final Linker LINKER = Linker.nativeLinker();

    /** The C library's functions, where it is one of Linux. */
    private record Calls(MethodHandle mmap, MethodHandle munmap, MethodHandle madvise) {
        static Optional<Calls> find() {
            return System.getProperty("os.name").equals("Linux")
                    ? Optional.of(new Calls(
                            function("mmap", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG),
                            function("munmap", JAVA_INT, ADDRESS, JAVA_LONG),
                            function("madvise", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT)))
                    : Optional.empty();
        }

        private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... parameters) {
            return LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
        }
    }

    private static final Optional<Calls> CALLS = Calls.find();

    private final Calls calls;
    private final MemorySegment mapped;
    private final MemorySegment memory;

    private HostPages(Calls calls, MemorySegment mapped, MemorySegment memory) {
        this.calls = calls;
        this.mapped = mapped;
        this.memory = memory;
    }

    /** Zeroed memory; nothing where the system gives none, or has not that much without taking it from others. */
    static Optional<HostPages> allocate(long bytes) {
        return CALLS.filter(_ -> bytes < availableBytes()).flatMap(calls -> map(calls, bytes));
    }

    private static long availableBytes() {
        return availableBytes(Path.of("/proc/meminfo"), Path.of("/sys/fs/cgroup"));
    }

    /** What may be taken without taking it from others: of the machine, and of the control group where that has a limit. */
    static long availableBytes(Path machine, Path group) {
        long ofMachine = number(machine, "MemAvailable:", 0) << 10;
        long limit = number(group.resolve("memory.max"), "", Long.MAX_VALUE);
        if (limit == Long.MAX_VALUE) {
            return ofMachine;
        }
        long used = number(group.resolve("memory.current"), "", 0);
        long reclaimable = number(group.resolve("memory.stat"), "inactive_file ", 0);
        return Math.min(ofMachine, limit - used + reclaimable);
    }

    /** The number of the first line that begins so; where there is none, {@code otherwise}. */
    private static long number(Path file, String begin, long otherwise) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(begin))
                    .map(line -> line.replaceAll("\\D", ""))
                    .filter(digits -> !digits.isEmpty()) // "max" is no limit
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(otherwise);
        } catch (IOException | UncheckedIOException unreadable) {
            return otherwise;
        }
    }

    private static Optional<HostPages> map(Calls calls, long bytes) {
        long whole = Math.ceilDiv(bytes, HUGE_PAGE) * HUGE_PAGE;
        MemorySegment mapped = mmap(calls, whole + HUGE_PAGE); // so that it can begin where a huge page does
        if (mapped.address() == -1) {
            return Optional.empty();
        }
        mapped = mapped.reinterpret(whole + HUGE_PAGE);
        long begin = -mapped.address() & (HUGE_PAGE - 1);
        MemorySegment memory = mapped.asSlice(begin, whole);
        int _ = NativeCall.errorOf(() -> (int) calls.madvise.invokeExact(memory, whole, HUGE_PAGES)); // or small ones
        touch(memory);
        return Optional.of(new HostPages(calls, mapped, memory.asSlice(0, bytes)));
    }

    private static MemorySegment mmap(Calls calls, long bytes) {
        try {
            return (MemorySegment)
                    calls.mmap.invokeExact(MemorySegment.NULL, bytes, READ_AND_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new AssertionError("a native call threw", impossible);
        }
    }

    /** Has the system give and clear every page, on several threads. */
    private static void touch(MemorySegment memory) {
        LongStream.range(0, Math.ceilDiv(memory.byteSize(), TURN)).parallel().forEach(turn -> {
            long end = Math.min(memory.byteSize(), (turn + 1) * TURN);
            for (long at = turn * TURN; at < end; at += PAGE) {
                memory.set(JAVA_BYTE, at, (byte) 0);
            }
        });
    }

    MemorySegment memory() {
        return memory;
    }

    @Override
    public void close() {
        int error = NativeCall.errorOf(() -> (int) calls.munmap.invokeExact(mapped, mapped.byteSize()));
        assert error == 0;
    }
}
