package roselle.cpu.format;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** IEEE 754 binary32, as it is. */
final class F32Format implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.F32);

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        int whole = count - count % COUNT;
        long p = offset;
        int target = at;
        for (int i = 0; i < whole; i += COUNT) {
            FloatVector w = FloatVector.fromMemorySegment(FLOATS, weights, p, ORDER);
            w.intoArray(panel, target);
            p += 4L * COUNT;
            target += step;
        }
        if (whole < count) {
            WeightFormat.decodeRest(SCALAR, weights, p, count - whole, panel, target, scratch);
        }
    }

    @Override
    public boolean dotsRows(int columns) {
        return columns % COUNT == 0;
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
        for (int r = 0; r < rows; r += GROUP) {
            long p0 = offset + r * rowBytes;
            long p1 = offset + Math.min(r + 1, rows - 1) * rowBytes;
            long p2 = offset + Math.min(r + 2, rows - 1) * rowBytes;
            long p3 = offset + Math.min(r + 3, rows - 1) * rowBytes;
            FloatVector s0 = FloatVector.zero(FLOATS);
            FloatVector s1 = s0;
            FloatVector s2 = s0;
            FloatVector s3 = s0;
            for (int i = at; i < at + columns; i += COUNT) {
                FloatVector v = FloatVector.fromArray(FLOATS, x, i);
                FloatVector w0 = FloatVector.fromMemorySegment(FLOATS, weights, p0, ORDER);
                s0 = v.fma(w0, s0);
                FloatVector w1 = FloatVector.fromMemorySegment(FLOATS, weights, p1, ORDER);
                s1 = v.fma(w1, s1);
                FloatVector w2 = FloatVector.fromMemorySegment(FLOATS, weights, p2, ORDER);
                s2 = v.fma(w2, s2);
                FloatVector w3 = FloatVector.fromMemorySegment(FLOATS, weights, p3, ORDER);
                s3 = v.fma(w3, s3);
                p0 += 4L * COUNT;
                p1 += 4L * COUNT;
                p2 += 4L * COUNT;
                p3 += 4L * COUNT;
            }
            s0.intoArray(sums, r * COUNT);
            s1.intoArray(sums, r * COUNT + COUNT);
            s2.intoArray(sums, r * COUNT + 2 * COUNT);
            s3.intoArray(sums, r * COUNT + 3 * COUNT);
        }
    }
}
