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

/** IEEE 754 binary16. */
final class F16Format implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.F16);

    /** What is left of a half after a shift by 13, the sign aside: five bits of exponent, ten of fraction. */
    private static final int NUMBER = 0x0fffe000;

    private static final int SIGN = 0x80000000;
    private static final int ONE = 1 << 23;
    private static final int HALF_EXPONENT = 0x1f << 23;
    private static final int EXPONENT = 0xff << 23;

    /** From the bias of a half, 15, to that of a float, 127. */
    private static final int REBIAS = 112 << 23;

    /** The smallest normal half. A smaller one is read as if it had a leading one, which is then taken away. */
    private static final float SMALLEST = 0x1p-14f;

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        int whole = count - count % COUNT;
        long p = offset;
        int target = at;
        for (int i = 0; i < whole; i += COUNT) {
            IntVector h = (IntVector)
                    ShortVector.fromMemorySegment(SHORTS, weights, p, ORDER).castShape(INTS, 0);
            IntVector b = h.lanewise(VectorOperators.LSHL, 13).and(NUMBER);
            FloatVector f = b.add(REBIAS)
                    .blend(b.or(EXPONENT), b.compare(VectorOperators.GE, HALF_EXPONENT))
                    .reinterpretAsFloats();
            FloatVector u = b.add(REBIAS + ONE).reinterpretAsFloats().sub(SMALLEST);
            FloatVector w = f.blend(u, f.compare(VectorOperators.LT, SMALLEST))
                    .reinterpretAsInts()
                    .or(h.and(SIGN))
                    .reinterpretAsFloats();
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
                IntVector b0 = h0.lanewise(VectorOperators.LSHL, 13).and(NUMBER);
                FloatVector f0 = b0.add(REBIAS)
                        .blend(b0.or(EXPONENT), b0.compare(VectorOperators.GE, HALF_EXPONENT))
                        .reinterpretAsFloats();
                FloatVector u0 = b0.add(REBIAS + ONE).reinterpretAsFloats().sub(SMALLEST);
                FloatVector w0 = f0.blend(u0, f0.compare(VectorOperators.LT, SMALLEST))
                        .reinterpretAsInts()
                        .or(h0.and(SIGN))
                        .reinterpretAsFloats();
                s0 = v.fma(w0, s0);
                IntVector h1 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p1, ORDER)
                        .castShape(INTS, 0);
                IntVector b1 = h1.lanewise(VectorOperators.LSHL, 13).and(NUMBER);
                FloatVector f1 = b1.add(REBIAS)
                        .blend(b1.or(EXPONENT), b1.compare(VectorOperators.GE, HALF_EXPONENT))
                        .reinterpretAsFloats();
                FloatVector u1 = b1.add(REBIAS + ONE).reinterpretAsFloats().sub(SMALLEST);
                FloatVector w1 = f1.blend(u1, f1.compare(VectorOperators.LT, SMALLEST))
                        .reinterpretAsInts()
                        .or(h1.and(SIGN))
                        .reinterpretAsFloats();
                s1 = v.fma(w1, s1);
                IntVector h2 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p2, ORDER)
                        .castShape(INTS, 0);
                IntVector b2 = h2.lanewise(VectorOperators.LSHL, 13).and(NUMBER);
                FloatVector f2 = b2.add(REBIAS)
                        .blend(b2.or(EXPONENT), b2.compare(VectorOperators.GE, HALF_EXPONENT))
                        .reinterpretAsFloats();
                FloatVector u2 = b2.add(REBIAS + ONE).reinterpretAsFloats().sub(SMALLEST);
                FloatVector w2 = f2.blend(u2, f2.compare(VectorOperators.LT, SMALLEST))
                        .reinterpretAsInts()
                        .or(h2.and(SIGN))
                        .reinterpretAsFloats();
                s2 = v.fma(w2, s2);
                IntVector h3 = (IntVector) ShortVector.fromMemorySegment(SHORTS, weights, p3, ORDER)
                        .castShape(INTS, 0);
                IntVector b3 = h3.lanewise(VectorOperators.LSHL, 13).and(NUMBER);
                FloatVector f3 = b3.add(REBIAS)
                        .blend(b3.or(EXPONENT), b3.compare(VectorOperators.GE, HALF_EXPONENT))
                        .reinterpretAsFloats();
                FloatVector u3 = b3.add(REBIAS + ONE).reinterpretAsFloats().sub(SMALLEST);
                FloatVector w3 = f3.blend(u3, f3.compare(VectorOperators.LT, SMALLEST))
                        .reinterpretAsInts()
                        .or(h3.and(SIGN))
                        .reinterpretAsFloats();
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
