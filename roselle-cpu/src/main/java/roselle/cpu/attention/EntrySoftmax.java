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
 * The online softmax of attention's entries (rows times query heads) over tiles of positions.
 *
 * <p>A tile passes in steps that go over all entries: the largest scores, what sums before shrink by, the weights, their
 * sums. Within an entry each step waits for the one before; another entry does not, so that the processor has always
 * something to do. An entry's numbers are its own in each step, and so are its bits.
 */
final class EntrySoftmax {
    private static final int TILE = AttentionCall.TILE;

    private final float[] scores; // [entries][TILE]: scores, then weights
    private final float[] largest;
    private final float[] next;
    private final float[] shrinks;
    private final float[] denominators;
    private final float[] lanes; // [entries][COUNT]
    private final int[] from; // where in the tile an entry's positions begin, and end
    private final int[] to;
    private final RowKernels.@Nullable Softmax code;

    /** A softmax of so many entries, by machine code where there is some. */
    EntrySoftmax(int entries, Optional<RowKernels> kernels) {
        code = kernels.flatMap(rows -> rows.softmax(entries, TILE)).orElse(null);
        scores = new float[entries * TILE];
        largest = new float[entries];
        next = new float[entries];
        shrinks = new float[entries + COUNT];
        denominators = new float[entries];
        lanes = new float[entries * COUNT];
        from = new int[entries];
        to = new int[entries];
    }

    /** Where the scores of a tile belong, entry by entry; afterwards the weights are there. */
    float[] scores() {
        return scores;
    }

    /** What an entry's sums before the last tile are multiplied by. */
    float shrink(int entry) {
        return shrinks[entry];
    }

    float denominator(int entry) {
        return denominators[entry];
    }

    /** Begins an entry, with a score that has no value. */
    void begin(int entry, float sink) {
        largest[entry] = sink;
        denominators[entry] = 1f;
    }

    void begin(int entry) {
        largest[entry] = Float.NEGATIVE_INFINITY;
        denominators[entry] = 0f;
    }

    /** Chooses the positions of the tile that an entry sees. */
    void sees(int entry, int fromPosition, int toPosition) {
        from[entry] = fromPosition;
        to[entry] = toPosition;
    }

    /**
     * Makes weights of the scores of some entries; a score counts {@code scale} times, up to a cap that is not 0.
     *
     * @param room native memory of as many numbers as there are scores
     */
    void soften(int first, int end, float scale, float cap, MemorySegment room) {
        for (int e = first; e < end; e++) {
            scaleAndFindHighest(e, scale, cap);
        }
        for (int e = first; e < end; e++) {
            next[e] = Math.max(largest[e], Lanes.highest(lanes, e * COUNT));
            shrinks[e] = largest[e] - next[e];
            largest[e] = next[e];
        }
        if (code == null) {
            weigh(first, end);
        } else if (first < end) {
            weigh(first, end, code, room);
        }
        for (int e = first; e < end; e++) {
            hideOthers(e);
        }
    }

    private void weigh(int first, int end) {
        VectorFunctions.softmaxWeights(shrinks, first, end - first, 0f, lanes, first * COUNT);
        for (int e = first; e < end; e++) {
            VectorFunctions.softmaxWeights(scores, e * TILE, to[e] - from[e], next[e], lanes, e * COUNT);
        }
        for (int e = first; e < end; e++) {
            denominators[e] = denominators[e] * shrinks[e] + Lanes.sum(lanes, e * COUNT);
        }
    }

    /** The same by machine code, with the same bits. */
    private void weigh(int first, int end, RowKernels.Softmax by, MemorySegment room) {
        for (int e = first; e < end; e++) {
            int count = to[e] - from[e];
            int padded = Lanes.padded(count);
            Arrays.fill(scores, e * TILE + count, e * TILE + padded, Float.NEGATIVE_INFINITY);
            by.row(e, padded / COUNT, next[e]);
        }
        long bytes = (long) first * TILE * Float.BYTES;
        MemorySegment.copy(scores, first * TILE, room, JAVA_FLOAT, bytes, (end - first) * TILE);
        by.run(room.address(), first, end);
        MemorySegment.copy(room, JAVA_FLOAT, bytes, scores, first * TILE, (end - first) * TILE);
        for (int e = first; e < end; e++) {
            shrinks[e] = VectorFunctions.exp(shrinks[e]);
            denominators[e] = denominators[e] * shrinks[e] + by.sum(e);
        }
    }

    /** Brings the scores of an entry to the front, and the largest of each lane to its lanes. */
    private void scaleAndFindHighest(int entry, float scale, float cap) {
        int at = entry * TILE;
        int count = to[entry] - from[entry];
        if (from[entry] > 0) {
            System.arraycopy(scores, at + from[entry], scores, at, count);
        }
        float factor = scale;
        if (cap != 0) {
            VectorFunctions.cap(scores, at, count, scale, cap);
            factor = 1f;
        }
        int padded = at + Lanes.padded(count);
        for (int i = at + count; i < padded; i++) {
            scores[i] = scores[at]; // changes no maximum
        }
        FloatVector most = FloatVector.broadcast(FLOATS, Float.NEGATIVE_INFINITY);
        for (int i = at; i < padded; i += COUNT) {
            FloatVector scaled = FloatVector.fromArray(FLOATS, scores, i).mul(factor);
            scaled.intoArray(scores, i);
            most = most.max(scaled);
        }
        most.intoArray(lanes, entry * COUNT);
    }

    /** Brings weights back to their positions; those of positions that the entry does not see are zero. */
    private void hideOthers(int entry) {
        int at = entry * TILE;
        if (from[entry] > 0) {
            System.arraycopy(scores, at, scores, at + from[entry], to[entry] - from[entry]);
            Arrays.fill(scores, at, at + from[entry], 0f);
        }
        Arrays.fill(scores, at + to[entry], at + TILE, 0f);
    }
}
