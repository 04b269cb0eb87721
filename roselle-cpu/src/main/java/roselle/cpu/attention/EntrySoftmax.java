package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * The online softmax of attention's entries (rows times query heads) over tiles of positions, {@code [entries][TILE]}.
 *
 * <p>Machine code takes entries that see a tile from its first position on and whose scores have no cap, many in a call; others
 * pass one by one through the Vector API, with the same bits. An entry's numbers are its own, and so are its bits.
 */
final class EntrySoftmax {
    private static final int TILE = AttentionCall.TILE;
    private static final float[] UNSEEN = new float[TILE];
    private static final float[] NOTHING = new float[TILE];

    static {
        Arrays.fill(UNSEEN, Float.NEGATIVE_INFINITY);
    }

    private final float[] scores = new float[TILE]; // of one entry
    private final float[] lanes = new float[COUNT];
    private final float[] largest; // of entries, where there is no code
    private final float[] shrinks;
    private final float[] denominators;
    private final int[] from; // where in the tile an entry's positions begin, and end
    private final int[] to;
    private final RowKernels.@Nullable Softmax code;

    /** A softmax of so many entries, by machine code where there is some. */
    EntrySoftmax(int entries, Optional<RowKernels> kernels) {
        code = kernels.flatMap(rows -> rows.softmax(entries, TILE)).orElse(null);
        int own = code == null ? entries : 0;
        largest = new float[own];
        shrinks = new float[own];
        denominators = new float[own];
        from = new int[entries];
        to = new int[entries];
    }

    /** Begins an entry, with a score that has no value. */
    void begin(int entry, float sink) {
        set(entry, sink, 0f, 1f);
    }

    void begin(int entry) {
        set(entry, Float.NEGATIVE_INFINITY, 0f, 0f);
    }

    private void set(int entry, float most, float shrink, float denominator) {
        if (code != null) {
            code.row(entry, most, shrink, denominator);
            return;
        }
        largest[entry] = most;
        shrinks[entry] = shrink;
        denominators[entry] = denominator;
    }

    private float largest(int entry) {
        return code == null ? largest[entry] : code.largest(entry);
    }

    private float denominator(int entry) {
        return code == null ? denominators[entry] : code.denominator(entry);
    }

    /** Chooses the positions of the tile that an entry sees. */
    void sees(int entry, int fromPosition, int toPosition) {
        from[entry] = fromPosition;
        to[entry] = toPosition;
    }

    /**
     * Makes weights of the scores of some entries; a score counts {@code scale} times, up to a cap that is not 0. Those of
     * positions that an entry does not see become zero.
     */
    void soften(MemorySegment all, int first, int end, float scale, float cap) {
        RowKernels.Softmax by = code;
        for (int e = first; e < end; e++) {
            if (by != null && cap == 0 && from[e] == 0) {
                by.vectors(e, Lanes.padded(to[e]) / COUNT);
                fill(all, e, to[e], Lanes.padded(to[e]), UNSEEN);
            } else {
                soften(all, e, scale, cap);
                if (by != null) {
                    by.vectors(e, 0);
                }
            }
        }
        if (by == null || first == end) {
            return;
        }
        by.run(all.address(), first, end, scale);
        for (int e = first; e < end; e++) {
            if (to[e] < TILE) {
                fill(all, e, to[e], TILE, NOTHING);
            }
        }
    }

    private static void fill(MemorySegment all, int entry, int from, int to, float[] numbers) {
        long at = ((long) entry * TILE + from) * Float.BYTES;
        MemorySegment.copy(numbers, 0, all, JAVA_FLOAT, at, to - from);
    }

    private void soften(MemorySegment all, int entry, float scale, float cap) {
        long at = (long) entry * TILE * Float.BYTES;
        int count = to[entry] - from[entry];
        MemorySegment.copy(all, JAVA_FLOAT, at + (long) from[entry] * Float.BYTES, scores, 0, count);
        VectorFunctions.cap(scores, count, scale, cap);
        Arrays.fill(scores, count, Lanes.padded(count), scores[0]); // changes no maximum
        FloatVector most = FloatVector.broadcast(FLOATS, Float.NEGATIVE_INFINITY);
        for (int i = 0; i < count; i += COUNT) {
            most = most.max(FloatVector.fromArray(FLOATS, scores, i));
        }
        most.intoArray(lanes, 0);
        float next = Math.max(largest(entry), Lanes.highest(lanes, 0));
        float shrink = VectorFunctions.exp(largest(entry) - next);
        float sum = VectorFunctions.softmaxWeights(scores, count, next, lanes);
        set(entry, next, shrink, denominator(entry) * shrink + sum);
        all.asSlice(at, (long) TILE * Float.BYTES).fill((byte) 0);
        MemorySegment.copy(scores, 0, all, JAVA_FLOAT, at + (long) from[entry] * Float.BYTES, count);
    }

    /** {@code sums = sums * shrink + more}, rows of so many numbers for each of some entries; both begin with entry 0. */
    void add(MemorySegment more, MemorySegment sums, int first, int end, int size) {
        if (code != null) {
            code.shrink(more.address(), sums.address(), first, end, size);
            return;
        }
        for (int e = first; e < end; e++) {
            FloatVector factor = FloatVector.broadcast(FLOATS, shrinks[e]);
            for (int d = e * size; d < (e + 1) * size; d += COUNT) {
                long at = (long) d * Float.BYTES;
                FloatVector tile = FloatVector.fromMemorySegment(FLOATS, more, at, Lanes.ORDER);
                FloatVector.fromMemorySegment(FLOATS, sums, at, Lanes.ORDER)
                        .fma(factor, tile)
                        .intoMemorySegment(sums, at, Lanes.ORDER);
            }
        }
    }

    /** {@code output = sums / denominator} of some entries, in rows of so many numbers; the first entry's go to {@code at}, in bytes. */
    void divide(MemorySegment sums, int first, int end, int size, MemorySegment output, long at) {
        long from = (long) first * size * Float.BYTES;
        if (code != null) {
            code.divide(sums.address() + from, output.address() + at, first, end, size);
            return;
        }
        for (int e = first; e < end; e++) {
            for (int d = 0; d < size; d++) {
                long next = ((long) (e - first) * size + d) * Float.BYTES;
                output.set(JAVA_FLOAT, at + next, sums.get(JAVA_FLOAT, from + next) / denominator(e));
            }
        }
    }
}
