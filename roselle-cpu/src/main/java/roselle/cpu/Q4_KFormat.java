package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static roselle.cpu.Lanes.BYTES;
import static roselle.cpu.Lanes.COUNT;
import static roselle.cpu.Lanes.FLOATS;
import static roselle.cpu.Lanes.INTS;
import static roselle.cpu.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Blocks of 256: two binary16 factors, eight pairs of 6-bit scales and minimums, then 128 bytes of 4-bit numbers. */
final class Q4_KFormat implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.Q4_K);
    private static final int BLOCK = 256;
    private static final int BLOCK_BYTES = 144;

    private static final VectorShuffle<Integer> LOW =
            VectorShuffle.fromValues(IntVector.SPECIES_512, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 8, 9, 10, 11);
    private static final VectorShuffle<Integer> HIGH =
            VectorShuffle.fromValues(IntVector.SPECIES_512, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7);
    private static final IntVector LOW_SHIFT = quarters(0, 0, 0, 4);
    private static final IntVector LOW_MASK = quarters(63, 15, 63, 15);
    private static final IntVector HIGH_MASK = quarters(0, 0x30, 0, 0x30);
    private static final VectorMask<Float> MINIMUMS = VectorMask.fromLong(FloatVector.SPECIES_512, 0xff00);

    private static IntVector quarters(int a, int b, int c, int d) {
        int[] lanes = {a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d};
        return IntVector.fromArray(IntVector.SPECIES_512, lanes, 0);
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, float[] scratch) {
        if (COUNT != 16) {
            WeightFormat.decodeByScalar(SCALAR, weights, offset, count, panel, at, step, scratch);
            return;
        }
        long p = offset;
        int target = at;
        for (int i = 0; i < count; i += BLOCK) {
            scales(weights, p, scratch, 0);
            for (int g = 0; g < 4; g++) {
                IntVector a = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 16 + 32L * g, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector b = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 16 + 32L * g + 16, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                float d = scratch[2 * g];
                FloatVector m = FloatVector.broadcast(FLOATS, scratch[2 * g + 8]);
                ((FloatVector) a.and(15).convert(VectorOperators.I2F, 0))
                        .fma(FloatVector.broadcast(FLOATS, d), m)
                        .intoArray(panel, target);
                ((FloatVector) b.and(15).convert(VectorOperators.I2F, 0))
                        .fma(FloatVector.broadcast(FLOATS, d), m)
                        .intoArray(panel, target + step);
                d = scratch[2 * g + 1];
                m = FloatVector.broadcast(FLOATS, scratch[2 * g + 9]);
                ((FloatVector) a.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                        .fma(FloatVector.broadcast(FLOATS, d), m)
                        .intoArray(panel, target + 2 * step);
                ((FloatVector) b.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                        .fma(FloatVector.broadcast(FLOATS, d), m)
                        .intoArray(panel, target + 3 * step);
                target += 4 * step;
            }
            p += BLOCK_BYTES;
        }
    }

    /**
     * Writes the eight scales, then the eight minimums, negated, as floats. Six bits each in twelve bytes: the first four
     * of both lie in the low bits of bytes 0 to 7; the others have their low halves in bytes 8 to 11, scales below
     * minimums, and their high pairs on top of the first four.
     */
    private static void scales(MemorySegment weights, long p, float[] target, int at) {
        float d = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p));
        float minimum = Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p + 2));
        IntVector bytes = (IntVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, weights, p + 4, ORDER)
                .convertShape(VectorOperators.ZERO_EXTEND_B2I, IntVector.SPECIES_512, 0);
        IntVector low =
                bytes.rearrange(LOW).lanewise(VectorOperators.LSHR, LOW_SHIFT).and(LOW_MASK);
        IntVector high = bytes.rearrange(HIGH).lanewise(VectorOperators.LSHR, 2).and(HIGH_MASK);
        FloatVector factor = FloatVector.broadcast(FloatVector.SPECIES_512, d).blend(-minimum, MINIMUMS);
        ((FloatVector) low.or(high).convert(VectorOperators.I2F, 0)).mul(factor).intoArray(target, at);
    }

    @Override
    public boolean dotsRows(int columns) {
        return COUNT == 16;
    }

    @Override
    public void dotRows(
            float[] x, int at, MemorySegment weights, long offset, long rowBytes, int columns, int rows, float[] sums) {
        int spare = (rows + GROUP - 1) / GROUP * GROUP * COUNT;
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
                scales(weights, p0, sums, spare + 0);
                scales(weights, p1, sums, spare + 16);
                scales(weights, p2, sums, spare + 32);
                scales(weights, p3, sums, spare + 48);
                for (int g = 0; g < 4; g++) {
                    FloatVector v0 = FloatVector.fromArray(FLOATS, x, i + 64 * g);
                    FloatVector v1 = FloatVector.fromArray(FLOATS, x, i + 64 * g + 16);
                    FloatVector v2 = FloatVector.fromArray(FLOATS, x, i + 64 * g + 32);
                    FloatVector v3 = FloatVector.fromArray(FLOATS, x, i + 64 * g + 48);
                    IntVector a0 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 16 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b0 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 16 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    float d0 = sums[spare + 2 * g];
                    FloatVector l0 = FloatVector.broadcast(FLOATS, sums[spare + 8 + 2 * g]);
                    s0 = v0.fma(
                            ((FloatVector) a0.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d0), l0),
                            s0);
                    s0 = v1.fma(
                            ((FloatVector) b0.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d0), l0),
                            s0);
                    d0 = sums[spare + 1 + 2 * g];
                    l0 = FloatVector.broadcast(FLOATS, sums[spare + 9 + 2 * g]);
                    s0 = v2.fma(
                            ((FloatVector) a0.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d0), l0),
                            s0);
                    s0 = v3.fma(
                            ((FloatVector) b0.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d0), l0),
                            s0);
                    IntVector a1 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 16 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b1 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 16 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    float d1 = sums[spare + 16 + 2 * g];
                    FloatVector l1 = FloatVector.broadcast(FLOATS, sums[spare + 24 + 2 * g]);
                    s1 = v0.fma(
                            ((FloatVector) a1.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d1), l1),
                            s1);
                    s1 = v1.fma(
                            ((FloatVector) b1.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d1), l1),
                            s1);
                    d1 = sums[spare + 17 + 2 * g];
                    l1 = FloatVector.broadcast(FLOATS, sums[spare + 25 + 2 * g]);
                    s1 = v2.fma(
                            ((FloatVector) a1.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d1), l1),
                            s1);
                    s1 = v3.fma(
                            ((FloatVector) b1.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d1), l1),
                            s1);
                    IntVector a2 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 16 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b2 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 16 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    float d2 = sums[spare + 32 + 2 * g];
                    FloatVector l2 = FloatVector.broadcast(FLOATS, sums[spare + 40 + 2 * g]);
                    s2 = v0.fma(
                            ((FloatVector) a2.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d2), l2),
                            s2);
                    s2 = v1.fma(
                            ((FloatVector) b2.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d2), l2),
                            s2);
                    d2 = sums[spare + 33 + 2 * g];
                    l2 = FloatVector.broadcast(FLOATS, sums[spare + 41 + 2 * g]);
                    s2 = v2.fma(
                            ((FloatVector) a2.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d2), l2),
                            s2);
                    s2 = v3.fma(
                            ((FloatVector) b2.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d2), l2),
                            s2);
                    IntVector a3 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 16 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b3 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 16 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    float d3 = sums[spare + 48 + 2 * g];
                    FloatVector l3 = FloatVector.broadcast(FLOATS, sums[spare + 56 + 2 * g]);
                    s3 = v0.fma(
                            ((FloatVector) a3.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d3), l3),
                            s3);
                    s3 = v1.fma(
                            ((FloatVector) b3.and(15).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d3), l3),
                            s3);
                    d3 = sums[spare + 49 + 2 * g];
                    l3 = FloatVector.broadcast(FLOATS, sums[spare + 57 + 2 * g]);
                    s3 = v2.fma(
                            ((FloatVector) a3.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d3), l3),
                            s3);
                    s3 = v3.fma(
                            ((FloatVector) b3.lanewise(VectorOperators.LSHR, 4).convert(VectorOperators.I2F, 0))
                                    .fma(FloatVector.broadcast(FLOATS, d3), l3),
                            s3);
                }
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
