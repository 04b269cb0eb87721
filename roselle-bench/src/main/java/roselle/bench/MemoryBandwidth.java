package roselle.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What the machine's memory gives a number of threads: the limit of everything that reads weights once. */
public record MemoryBandwidth(double readBytesPerSecond, double copyBytesPerSecond) {
    private static final long MAX_BYTES_PER_THREAD = 256L << 20;
    private static final long MAX_BYTES = 2L << 30; // more than any cache, and little of a machine with many cores
    private static final int ROUNDS = 5;

    /** The best of a few rounds; copied bytes are counted once. */
    public static MemoryBandwidth measure(int threads) {
        long part = Math.min(MAX_BYTES_PER_THREAD, MAX_BYTES / threads) & -64;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment source = arena.allocate(part * threads, 64);
            MemorySegment target = arena.allocate(part * threads, 64);
            source.fill((byte) 1);
            target.fill((byte) 2);
            double read = best(threads, source, number -> sum(source.asSlice(number * part, part)));
            double copy = best(
                    threads, source, number -> MemorySegment.copy(source, number * part, target, number * part, part));
            if (target.mismatch(source) >= 0) {
                throw new IllegalStateException("what was copied is not what was written");
            }
            return new MemoryBandwidth(read, copy);
        }
    }

    private static double best(int threads, MemorySegment source, ParallelTime.Work work) {
        double best = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long nanos = ParallelTime.measure(threads, work).nanos();
            best = Math.max(best, source.byteSize() * 1e9 / nanos);
        }
        return best;
    }

    private static void sum(MemorySegment part) {
        long a = 0;
        long b = 0;
        for (long i = 0; i < part.byteSize(); i += 2 * Long.BYTES) {
            a += part.get(ValueLayout.JAVA_LONG, i);
            b += part.get(ValueLayout.JAVA_LONG, i + Long.BYTES);
        }
        long expected = part.byteSize() / Long.BYTES * 0x0101010101010101L;
        if (a + b != expected) { // also keeps the loop, whose sum nobody else needs
            throw new IllegalStateException("the memory that was read is not what was written");
        }
    }
}
