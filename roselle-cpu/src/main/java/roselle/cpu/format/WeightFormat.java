package roselle.cpu.format;

import java.lang.foreign.MemorySegment;
import roselle.cpu.gemm.Tile;
import roselle.cpu.vector.Lanes;
import roselle.tensor.Dequantizer;

/**
 * How rows of one weight format become float32 numbers, whole vectors at a time.
 *
 * <p>The scalar twin of every format is its {@link Dequantizer}: the vector forms give exactly its numbers, so that a
 * number of a weight is the same whichever way it is read. All positions in weights are in bytes.
 */
public interface WeightFormat {
    /** Weight rows that {@link #dotRows} multiplies at once; it writes the sums of a multiple of that. */
    int GROUP = 4;

    /**
     * Writes {@code count} numbers as whole vectors, {@code step} floats from one to the next, the last one padded with
     * zeros. {@code offset} is that of a block.
     */
    void decode(MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch);

    /** Whether {@link #dotRows} exists for rows of this many numbers. */
    default boolean dotsRows(int columns) {
        return false;
    }

    /**
     * Multiplies one activation row with {@code rows} weight rows while they stream by, decoded in registers; leaves a
     * vector of partial sums for each, as {@link Tile} does.
     */
    default void dotRows(
            float[] x,
            int at,
            MemorySegment weights,
            long offset,
            long rowBytes,
            int columns,
            int rows,
            float[] sums,
            Unpacked scratch) {
        throw new UnsupportedOperationException("no kernel for a single row");
    }

    /** {@link #decode} by way of the scalar twin, of less than a vector. */
    static void decodeRest(
            Dequantizer scalar,
            MemorySegment weights,
            long offset,
            int count,
            float[] panel,
            int at,
            Unpacked scratch) {
        float[] rest = scratch.rest;
        scalar.dequantize(weights, offset, rest, 0, count);
        for (int i = 0; i < Lanes.COUNT; i++) {
            panel[at + i] = i < count ? rest[i] : 0f;
        }
    }
}
