package roselle.cpu.format;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.INTS;
import static roselle.cpu.vector.Lanes.ORDER;
import static roselle.cpu.vector.Lanes.SHORTS;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** bfloat16: the upper half of a float32. */
final class Bf16Format implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.BF16);

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        int whole = count - count % COUNT;
        long p = offset;
        int target = at;
        for (int i = 0; i < whole; i += COUNT) {
            IntVector h = (IntVector)
                    ShortVector.fromMemorySegment(SHORTS, weights, p, ORDER).castShape(INTS, 0);
            FloatVector w = h.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
            w.intoArray(panel, target);
            p += 2L * COUNT;
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
                IntVector h0 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p0, ORDER)
                        .castShape(INTS, 0);
                FloatVector w0 = h0.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
                s0 = v.fma(w0, s0);
                IntVector h1 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p1, ORDER)
                        .castShape(INTS, 0);
                FloatVector w1 = h1.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
                s1 = v.fma(w1, s1);
                IntVector h2 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p2, ORDER)
                        .castShape(INTS, 0);
                FloatVector w2 = h2.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
                s2 = v.fma(w2, s2);
                IntVector h3 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p3, ORDER)
                        .castShape(INTS, 0);
                FloatVector w3 = h3.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
                s3 = v.fma(w3, s3);
                p0 += 2L * COUNT;
                p1 += 2L * COUNT;
                p2 += 2L * COUNT;
                p3 += 2L * COUNT;
            }
            s0.intoArray(sums, r * COUNT);
            s1.intoArray(sums, r * COUNT + COUNT);
            s2.intoArray(sums, r * COUNT + 2 * COUNT);
            s3.intoArray(sums, r * COUNT + 3 * COUNT);
        }
    }
}
