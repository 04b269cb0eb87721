package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static roselle.cpu.Lanes.BYTES;
import static roselle.cpu.Lanes.COUNT;
import static roselle.cpu.Lanes.FLOATS;
import static roselle.cpu.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Blocks of 32: a binary16 scale, then 32 signed bytes. */
final class Q8_0Format implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.Q8_0);
    private static final int BLOCK = 32;
    private static final int BLOCK_BYTES = 34;

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, float[] scratch) {
        if (COUNT == 4) {
            WeightFormat.decodeByScalar(SCALAR, weights, offset, count, panel, at, step, scratch);
            return;
        }
        long p = offset;
        int target = at;
        for (int i = 0; i < count; i += BLOCK) {
            float d = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p));
            for (int j = 0; j < BLOCK; j += COUNT) {
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p + 2 + j, ORDER)
                                .castShape(FLOATS, 0))
                        .mul(d)
                        .intoArray(panel, target);
                target += step;
            }
            p += BLOCK_BYTES;
        }
    }

    @Override
    public boolean dotsRows(int columns) {
        return COUNT == 16;
    }

    @Override
    public void dotRows(
            float[] x, int at, MemorySegment weights, long offset, long rowBytes, int columns, int rows, float[] sums) {
        for (int r = 0; r < rows; r += GROUP) {
            long p0 = offset + r * rowBytes;
            long p1 = offset + Math.min(r + 1, rows - 1) * rowBytes;
            long p2 = offset + Math.min(r + 2, rows - 1) * rowBytes;
            long p3 = offset + Math.min(r + 3, rows - 1) * rowBytes;
            FloatVector s0 = FloatVector.zero(FLOATS);
            FloatVector s1 = s0;
            FloatVector s2 = s0;
            FloatVector s3 = s0;
            for (int i = at; i < at + columns; i += BLOCK) {
                FloatVector v0 = FloatVector.fromArray(FLOATS, x, i);
                FloatVector v1 = FloatVector.fromArray(FLOATS, x, i + 16);
                float d0 = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p0));
                s0 = v0.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 2, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d0),
                        s0);
                s0 = v1.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 18, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d0),
                        s0);
                float d1 = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p1));
                s1 = v0.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 2, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d1),
                        s1);
                s1 = v1.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 18, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d1),
                        s1);
                float d2 = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p2));
                s2 = v0.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 2, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d2),
                        s2);
                s2 = v1.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 18, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d2),
                        s2);
                float d3 = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p3));
                s3 = v0.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 2, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d3),
                        s3);
                s3 = v1.fma(
                        ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 18, ORDER)
                                        .castShape(FLOATS, 0))
                                .mul(d3),
                        s3);
                p0 += BLOCK_BYTES;
                p1 += BLOCK_BYTES;
                p2 += BLOCK_BYTES;
                p3 += BLOCK_BYTES;
            }
            s0.intoArray(sums, r * COUNT);
            s1.intoArray(sums, r * COUNT + COUNT);
            s2.intoArray(sums, r * COUNT + 2 * COUNT);
            s3.intoArray(sums, r * COUNT + 3 * COUNT);
        }
    }
}
