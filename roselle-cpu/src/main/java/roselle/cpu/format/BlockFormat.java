package roselle.cpu.format;

import static roselle.cpu.format.Unpacked.GROUPS;
import static roselle.cpu.format.Unpacked.GROUP_NUMBERS;
import static roselle.cpu.format.Unpacked.NUMBERS;
import static roselle.cpu.vector.Lanes.BYTES;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;

/**
 * The kernels of all quantized formats, at every width.
 *
 * <p>They work in two strides. A {@link BlockLayout} unpacks some hundred numbers of a row to bytes, many at a time, for
 * bits are cheap while they are packed; then the bytes become floats, are scaled and multiplied in registers, by code that
 * is the same for all formats. Only that boundary is a call which the compiler cannot see through, and no vector crosses it:
 * one that did would lie on the heap.
 */
final class BlockFormat implements WeightFormat {
    private final BlockLayout layout;
    private final int blockNumbers;
    private final int blockBytes;
    private final boolean hasMinimums;

    BlockFormat(BlockLayout layout) {
        this.layout = layout;
        blockNumbers = layout.type().blockElements();
        blockBytes = layout.type().blockBytes();
        hasMinimums = layout.hasMinimums();
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        for (int i = 0; i < count; i += NUMBERS) {
            int numbers = Math.min(NUMBERS, count - i);
            layout.unpack(weights, offset + (long) i / blockNumbers * blockBytes, numbers, scratch, 0, 0);
            int to = at + i / COUNT * step;
            if (hasMinimums) {
                scaleAndAdd(scratch, numbers, panel, to, step);
            } else {
                scale(scratch, numbers, panel, to, step);
            }
        }
    }

    private static void scale(Unpacked from, int count, float[] panel, int at, int step) {
        byte[] quants = from.quants;
        float[] scales = from.scales;
        int to = at;
        for (int group = 0; group < count / GROUP_NUMBERS; group++) {
            for (int j = 0; j < GROUP_NUMBERS; j += COUNT) {
                ((FloatVector) ByteVector.fromArray(BYTES, quants, group * GROUP_NUMBERS + j)
                                .castShape(FLOATS, 0))
                        .mul(scales[group])
                        .intoArray(panel, to);
                to += step;
            }
        }
    }

    private static void scaleAndAdd(Unpacked from, int count, float[] panel, int at, int step) {
        byte[] quants = from.quants;
        float[] scales = from.scales;
        float[] minimums = from.minimums;
        int to = at;
        for (int group = 0; group < count / GROUP_NUMBERS; group++) {
            for (int j = 0; j < GROUP_NUMBERS; j += COUNT) {
                ((FloatVector) ByteVector.fromArray(BYTES, quants, group * GROUP_NUMBERS + j)
                                .castShape(FLOATS, 0))
                        .fma(
                                FloatVector.broadcast(FLOATS, scales[group]),
                                FloatVector.broadcast(FLOATS, minimums[group]))
                        .intoArray(panel, to);
                to += step;
            }
        }
    }

    @Override
    public boolean dotsRows(int columns) {
        return true;
    }

    @Override
    public void dotRows(
            float[] x,
            int at,
            MemorySegment weights,
            long offset,
            long rowBytes,
            int columns,
            int rows,
            float[] sums,
            Unpacked scratch) {
        Arrays.fill(sums, 0, (rows + GROUP - 1) / GROUP * GROUP * COUNT, 0f);
        for (int r = 0; r < rows; r += GROUP) {
            for (int i = 0; i < columns; i += NUMBERS) {
                int numbers = Math.min(NUMBERS, columns - i);
                long from = offset + (long) i / blockNumbers * blockBytes;
                for (int n = 0; n < GROUP; n++) {
                    long row = from + Math.min(r + n, rows - 1) * rowBytes;
                    layout.unpack(weights, row, numbers, scratch, n * NUMBERS, n * GROUPS);
                }
                if (hasMinimums) {
                    dotWithMinimums(x, at + i, scratch, numbers, sums, r * COUNT);
                } else {
                    dot(x, at + i, scratch, numbers, sums, r * COUNT);
                }
            }
        }
    }

    /** Goes on with the sums of four rows. */
    private static void dot(float[] x, int at, Unpacked rows, int count, float[] sums, int to) {
        byte[] quants = rows.quants;
        float[] scales = rows.scales;
        FloatVector s0 = FloatVector.fromArray(FLOATS, sums, to);
        FloatVector s1 = FloatVector.fromArray(FLOATS, sums, to + COUNT);
        FloatVector s2 = FloatVector.fromArray(FLOATS, sums, to + 2 * COUNT);
        FloatVector s3 = FloatVector.fromArray(FLOATS, sums, to + 3 * COUNT);
        for (int group = 0; group < count / GROUP_NUMBERS; group++) {
            for (int j = 0; j < GROUP_NUMBERS; j += COUNT) {
                int i = group * GROUP_NUMBERS + j;
                FloatVector v = FloatVector.fromArray(FLOATS, x, at + i);
                FloatVector w =
                        (FloatVector) ByteVector.fromArray(BYTES, quants, i).castShape(FLOATS, 0);
                s0 = v.fma(w.mul(scales[group]), s0);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, NUMBERS + i).castShape(FLOATS, 0);
                s1 = v.fma(w.mul(scales[GROUPS + group]), s1);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, 2 * NUMBERS + i).castShape(FLOATS, 0);
                s2 = v.fma(w.mul(scales[2 * GROUPS + group]), s2);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, 3 * NUMBERS + i).castShape(FLOATS, 0);
                s3 = v.fma(w.mul(scales[3 * GROUPS + group]), s3);
            }
        }
        s0.intoArray(sums, to);
        s1.intoArray(sums, to + COUNT);
        s2.intoArray(sums, to + 2 * COUNT);
        s3.intoArray(sums, to + 3 * COUNT);
    }

    /** The same where minimums are added. */
    private static void dotWithMinimums(float[] x, int at, Unpacked rows, int count, float[] sums, int to) {
        byte[] quants = rows.quants;
        float[] scales = rows.scales;
        float[] minimums = rows.minimums;
        FloatVector s0 = FloatVector.fromArray(FLOATS, sums, to);
        FloatVector s1 = FloatVector.fromArray(FLOATS, sums, to + COUNT);
        FloatVector s2 = FloatVector.fromArray(FLOATS, sums, to + 2 * COUNT);
        FloatVector s3 = FloatVector.fromArray(FLOATS, sums, to + 3 * COUNT);
        for (int group = 0; group < count / GROUP_NUMBERS; group++) {
            for (int j = 0; j < GROUP_NUMBERS; j += COUNT) {
                int i = group * GROUP_NUMBERS + j;
                FloatVector v = FloatVector.fromArray(FLOATS, x, at + i);
                FloatVector w =
                        (FloatVector) ByteVector.fromArray(BYTES, quants, i).castShape(FLOATS, 0);
                FloatVector scale = FloatVector.broadcast(FLOATS, scales[group]);
                s0 = v.fma(w.fma(scale, FloatVector.broadcast(FLOATS, minimums[group])), s0);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, NUMBERS + i).castShape(FLOATS, 0);
                scale = FloatVector.broadcast(FLOATS, scales[GROUPS + group]);
                s1 = v.fma(w.fma(scale, FloatVector.broadcast(FLOATS, minimums[GROUPS + group])), s1);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, 2 * NUMBERS + i).castShape(FLOATS, 0);
                scale = FloatVector.broadcast(FLOATS, scales[2 * GROUPS + group]);
                s2 = v.fma(w.fma(scale, FloatVector.broadcast(FLOATS, minimums[2 * GROUPS + group])), s2);
                w = (FloatVector)
                        ByteVector.fromArray(BYTES, quants, 3 * NUMBERS + i).castShape(FLOATS, 0);
                scale = FloatVector.broadcast(FLOATS, scales[3 * GROUPS + group]);
                s3 = v.fma(w.fma(scale, FloatVector.broadcast(FLOATS, minimums[3 * GROUPS + group])), s3);
            }
        }
        s0.intoArray(sums, to);
        s1.intoArray(sums, to + COUNT);
        s2.intoArray(sums, to + 2 * COUNT);
        s3.intoArray(sums, to + 3 * COUNT);
    }
}
