package roselle.cpu.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.memory.CpuWeight;

/** Rows of activations as machine code reads them, which all threads share; each thread converts some. */
final class Activations {
    private final Arena arena;
    private final MemorySegment[] padded; // per thread, a row whose columns are not whole blocks
    private MemorySegment rows = MemorySegment.NULL; // [VectorGemm.MAX_ROWS][rowBytes]

    Activations(Arena arena, int threads) {
        this.arena = arena;
        padded = new MemorySegment[threads];
        java.util.Arrays.fill(padded, MemorySegment.NULL);
    }

    /** Makes room for a weight's input rows. */
    void reserve(CpuWeight weight, GemmKernels kernels) {
        int columns = weight.paddedColumns();
        long bytes = sharedBytes(columns, kernels);
        if (rows.byteSize() < bytes) {
            rows = arena.allocate(bytes, 64);
        }
        if (padded[0].byteSize() < (long) columns * Float.BYTES) {
            for (int i = 0; i < padded.length; i++) {
                padded[i] = arena.allocate((long) columns * Float.BYTES, 64);
            }
        }
    }

    private static long sharedBytes(int columns, GemmKernels kernels) {
        return VectorGemm.MAX_ROWS * kernels.rowBytes(columns);
    }

    /** Bytes that rows of so many columns, padded, take at most, with one that each thread has. */
    static long bytes(int columns, GemmKernels kernels, int threads) {
        return sharedBytes(columns, kernels) + threads * (long) columns * Float.BYTES;
    }

    /** Bytes that were taken. */
    long bytes() {
        return rows.byteSize() + padded.length * padded[0].byteSize();
    }

    /** The address of a row. */
    long row(int index, CpuWeight weight, GemmKernels kernels) {
        return rows.address() + index * kernels.rowBytes(weight.paddedColumns());
    }

    /** Converts the numbers from {@code from} on, counted in floats, to row {@code index}. */
    void convert(
            GemmKernels.Call call,
            int thread,
            MemorySegment source,
            long from,
            CpuWeight weight,
            GemmKernels kernels,
            int index) {
        int columns = weight.columns();
        long target = row(index, weight, kernels);
        long address = source.address() + from * Float.BYTES;
        if (columns != weight.paddedColumns()) {
            MemorySegment copy = padded[thread];
            MemorySegment.copy(source, JAVA_FLOAT, from * Float.BYTES, copy, JAVA_FLOAT, 0, columns);
            copy.asSlice((long) columns * Float.BYTES, (long) (weight.paddedColumns() - columns) * Float.BYTES)
                    .fill((byte) 0);
            address = copy.address();
        }
        call.convert(weight.packed(0).panel(), address, weight.paddedColumns(), target);
    }
}
