package roselle.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** What the machine's memory gives a number of threads: the limit of everything that reads weights once. */
public record MemoryBandwidth(double readBytesPerSecond, double copyBytesPerSecond) {
    private static final long BYTES_PER_THREAD = 256L << 20;
    private static final int ROUNDS = 5;

    /** The best of a few rounds; copied bytes are counted once. */
    public static MemoryBandwidth measure(int threads) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment source = arena.allocate(BYTES_PER_THREAD * threads, 64);
            MemorySegment target = arena.allocate(BYTES_PER_THREAD * threads, 64);
            source.fill((byte) 1);
            target.fill((byte) 2);
            return new MemoryBandwidth(
                    best(threads, source, part -> sum(part.source())),
                    best(threads, source, part -> copy(part, target)));
        }
    }

    /** The part of the memory that belongs to a thread. */
    private record Part(MemorySegment source, long offset) {}

    private interface Pass {
        long over(Part part);
    }

    private static double best(int threads, MemorySegment source, Pass pass) {
        double best = 0;
        for (int round = 0; round < ROUNDS; round++) {
            best = Math.max(best, source.byteSize() / seconds(threads, source, pass));
        }
        return best;
    }

    /** From the first thread's start to the last one's end, as they saw it: who measures may get no processor meanwhile. */
    private static double seconds(int threads, MemorySegment source, Pass pass) {
        var barrier = new CyclicBarrier(threads);
        var sink = new long[threads];
        var begins = new long[threads];
        var ends = new long[threads];
        var workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            workers[i] = Thread.ofPlatform().daemon().start(() -> {
                var part = new Part(
                        source.asSlice(number * BYTES_PER_THREAD, BYTES_PER_THREAD), number * BYTES_PER_THREAD);
                await(barrier);
                begins[number] = System.nanoTime();
                sink[number] = pass.over(part);
                ends[number] = System.nanoTime();
            });
        }
        for (Thread worker : workers) {
            join(worker);
        }
        if (Arrays.stream(sink).anyMatch(sum -> sum == 0)) {
            throw new IllegalStateException("the memory that was read is not what was written");
        }
        long first = begins[0];
        long last = ends[0];
        for (int i = 1; i < threads; i++) {
            first = begins[i] - first < 0 ? begins[i] : first;
            last = ends[i] - last > 0 ? ends[i] : last;
        }
        return (last - first) / 1e9;
    }

    private static long sum(MemorySegment part) {
        long a = 0;
        long b = 0;
        for (long i = 0; i < part.byteSize(); i += 2 * Long.BYTES) {
            a += part.get(ValueLayout.JAVA_LONG, i);
            b += part.get(ValueLayout.JAVA_LONG, i + Long.BYTES);
        }
        return a + b;
    }

    private static long copy(Part part, MemorySegment target) {
        MemorySegment.copy(
                part.source(), 0, target, part.offset(), part.source().byteSize());
        return target.get(ValueLayout.JAVA_BYTE, part.offset());
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException("interrupted while measuring", e);
        }
    }

    private static void join(Thread worker) {
        try {
            worker.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while measuring", e);
        }
    }
}
