package roselle.cpu;

import java.lang.foreign.MemorySegment;
import roselle.tensor.Dequantizer;

/**
 * How rows of one weight format become float32 numbers, whole vectors at a time.
 *
 * <p>The scalar twin of every format is its {@link Dequantizer}: the vector forms give exactly its numbers, so that a
 * number of a weight is the same whichever way it is read. All positions in weights are in bytes.
 */
interface WeightFormat {
    /** Weight rows that {@link #dotRows} multiplies at once; it writes the sums of a multiple of that. */
    int GROUP = 4;

    /** Floats beyond the sums that {@link #dotRows} may use for itself. */
    int SPARE = 4 * 32;

    /**
     * Writes {@code count} numbers as whole vectors, {@code step} floats from one to the next, the last one padded with
     * zeros. {@code offset} is that of a block; {@code scratch} holds {@code count} numbers.
     */
    void decode(MemorySegment weights, long offset, int count, float[] panel, int at, int step, float[] scratch);

    /** Whether {@link #dotRows} exists for rows of this many numbers. */
    default boolean dotsRows(int columns) {
        return false;
    }

    /**
     * Multiplies one activation row with {@code rows} weight rows while they stream by, decoded in registers; leaves a
     * vector of partial sums for each, as {@link Tile} does.
     */
    default void dotRows(
            float[] x, int at, MemorySegment weights, long offset, long rowBytes, int columns, int rows, float[] sums) {
        throw new UnsupportedOperationException("no kernel for a single row");
    }

    /** {@link #decode} by way of the scalar twin. */
    static void decodeByScalar(
            Dequantizer scalar,
            MemorySegment weights,
            long offset,
            int count,
            float[] panel,
            int at,
            int step,
            float[] scratch) {
        scalar.dequantize(weights, offset, scratch, 0, count);
        int target = at;
        for (int i = 0; i < count; i += Lanes.COUNT) {
            for (int j = 0; j < Lanes.COUNT; j++) {
                panel[target + j] = i + j < count ? scratch[i + j] : 0f;
            }
            target += step;
        }
    }
}
