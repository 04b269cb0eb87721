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
import jdk.incubator.vector.VectorOperators;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Blocks of 256: 128 bytes of low halves, 64 bytes of high pairs, 16 signed scales, a binary16 factor. */
final class Q6_KFormat implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.Q6_K);
    private static final int BLOCK = 256;
    private static final int BLOCK_BYTES = 210;

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
            ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p + 192, ORDER)
                            .castShape(FLOATS, 0))
                    .mul(Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p + 208)))
                    .intoArray(scratch, 0);
            for (int g = 0; g < 2; g++) {
                IntVector a0 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 64L * g, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector b0 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 64L * g + 32, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector h0 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 128 + 32L * g, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector a1 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 64L * g + 16, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector b1 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 64L * g + 48, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                IntVector h1 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p + 128 + 32L * g + 16, ORDER)
                        .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                ((FloatVector) a0.and(15)
                                .or(h0.and(3).lanewise(VectorOperators.LSHL, 4))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 0])
                        .intoArray(panel, target + 0 * step);
                ((FloatVector) a1.and(15)
                                .or(h1.and(3).lanewise(VectorOperators.LSHL, 4))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 1])
                        .intoArray(panel, target + 1 * step);
                ((FloatVector) b0.and(15)
                                .or(h0.and(12).lanewise(VectorOperators.LSHL, 2))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 2])
                        .intoArray(panel, target + 2 * step);
                ((FloatVector) b1.and(15)
                                .or(h1.and(12).lanewise(VectorOperators.LSHL, 2))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 3])
                        .intoArray(panel, target + 3 * step);
                ((FloatVector) a0.lanewise(VectorOperators.LSHR, 4)
                                .or(h0.and(48))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 4])
                        .intoArray(panel, target + 4 * step);
                ((FloatVector) a1.lanewise(VectorOperators.LSHR, 4)
                                .or(h1.and(48))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 5])
                        .intoArray(panel, target + 5 * step);
                ((FloatVector) b0.lanewise(VectorOperators.LSHR, 4)
                                .or(h0.lanewise(VectorOperators.LSHR, 2).and(48))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 6])
                        .intoArray(panel, target + 6 * step);
                ((FloatVector) b1.lanewise(VectorOperators.LSHR, 4)
                                .or(h1.lanewise(VectorOperators.LSHR, 2).and(48))
                                .sub(32)
                                .convert(VectorOperators.I2F, 0))
                        .mul(scratch[8 * g + 7])
                        .intoArray(panel, target + 7 * step);
                target += 8 * step;
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
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 192, ORDER)
                                .castShape(FLOATS, 0))
                        .mul(Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p0 + 208)))
                        .intoArray(sums, spare);
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 192, ORDER)
                                .castShape(FLOATS, 0))
                        .mul(Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p1 + 208)))
                        .intoArray(sums, spare + 16);
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 192, ORDER)
                                .castShape(FLOATS, 0))
                        .mul(Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p2 + 208)))
                        .intoArray(sums, spare + 32);
                ((FloatVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 192, ORDER)
                                .castShape(FLOATS, 0))
                        .mul(Float.float16ToFloat(weights.get(JAVA_SHORT_UNALIGNED, p3 + 208)))
                        .intoArray(sums, spare + 48);
                for (int g = 0; g < 2; g++) {
                    IntVector a00 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 64L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b00 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 64L * g + 32, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h00 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 128 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector a01 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 64L * g + 16, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b01 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 64L * g + 48, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h01 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p0 + 128 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g)
                            .fma(
                                    ((FloatVector) a00.and(15)
                                                    .or(h00.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 16)
                            .fma(
                                    ((FloatVector) a01.and(15)
                                                    .or(h01.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 1]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 32)
                            .fma(
                                    ((FloatVector) b00.and(15)
                                                    .or(h00.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 2]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 48)
                            .fma(
                                    ((FloatVector) b01.and(15)
                                                    .or(h01.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 3]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 64)
                            .fma(
                                    ((FloatVector) a00.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h00.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 4]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 80)
                            .fma(
                                    ((FloatVector) a01.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h01.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 5]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 96)
                            .fma(
                                    ((FloatVector) b00.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h00.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 6]),
                                    s0);
                    s0 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 112)
                            .fma(
                                    ((FloatVector) b01.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h01.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 8 * g + 7]),
                                    s0);
                    IntVector a10 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 64L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b10 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 64L * g + 32, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h10 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 128 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector a11 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 64L * g + 16, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b11 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 64L * g + 48, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h11 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p1 + 128 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g)
                            .fma(
                                    ((FloatVector) a10.and(15)
                                                    .or(h10.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 16)
                            .fma(
                                    ((FloatVector) a11.and(15)
                                                    .or(h11.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 1]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 32)
                            .fma(
                                    ((FloatVector) b10.and(15)
                                                    .or(h10.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 2]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 48)
                            .fma(
                                    ((FloatVector) b11.and(15)
                                                    .or(h11.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 3]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 64)
                            .fma(
                                    ((FloatVector) a10.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h10.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 4]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 80)
                            .fma(
                                    ((FloatVector) a11.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h11.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 5]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 96)
                            .fma(
                                    ((FloatVector) b10.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h10.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 6]),
                                    s1);
                    s1 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 112)
                            .fma(
                                    ((FloatVector) b11.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h11.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 16 + 8 * g + 7]),
                                    s1);
                    IntVector a20 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 64L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b20 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 64L * g + 32, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h20 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 128 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector a21 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 64L * g + 16, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b21 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 64L * g + 48, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h21 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p2 + 128 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g)
                            .fma(
                                    ((FloatVector) a20.and(15)
                                                    .or(h20.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 16)
                            .fma(
                                    ((FloatVector) a21.and(15)
                                                    .or(h21.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 1]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 32)
                            .fma(
                                    ((FloatVector) b20.and(15)
                                                    .or(h20.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 2]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 48)
                            .fma(
                                    ((FloatVector) b21.and(15)
                                                    .or(h21.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 3]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 64)
                            .fma(
                                    ((FloatVector) a20.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h20.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 4]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 80)
                            .fma(
                                    ((FloatVector) a21.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h21.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 5]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 96)
                            .fma(
                                    ((FloatVector) b20.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h20.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 6]),
                                    s2);
                    s2 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 112)
                            .fma(
                                    ((FloatVector) b21.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h21.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 32 + 8 * g + 7]),
                                    s2);
                    IntVector a30 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 64L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b30 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 64L * g + 32, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h30 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 128 + 32L * g, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector a31 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 64L * g + 16, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector b31 = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 64L * g + 48, ORDER)
                            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    IntVector h31 =
                            (IntVector) ByteVector.fromMemorySegment(BYTES, weights, p3 + 128 + 32L * g + 16, ORDER)
                                    .convertShape(VectorOperators.ZERO_EXTEND_B2I, INTS, 0);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g)
                            .fma(
                                    ((FloatVector) a30.and(15)
                                                    .or(h30.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 16)
                            .fma(
                                    ((FloatVector) a31.and(15)
                                                    .or(h31.and(3).lanewise(VectorOperators.LSHL, 4))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 1]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 32)
                            .fma(
                                    ((FloatVector) b30.and(15)
                                                    .or(h30.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 2]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 48)
                            .fma(
                                    ((FloatVector) b31.and(15)
                                                    .or(h31.and(12).lanewise(VectorOperators.LSHL, 2))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 3]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 64)
                            .fma(
                                    ((FloatVector) a30.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h30.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 4]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 80)
                            .fma(
                                    ((FloatVector) a31.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h31.and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 5]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 96)
                            .fma(
                                    ((FloatVector) b30.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h30.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 6]),
                                    s3);
                    s3 = FloatVector.fromArray(FLOATS, x, i + 128 * g + 112)
                            .fma(
                                    ((FloatVector) b31.lanewise(VectorOperators.LSHR, 4)
                                                    .or(h31.lanewise(VectorOperators.LSHR, 2)
                                                            .and(48))
                                                    .sub(32)
                                                    .convert(VectorOperators.I2F, 0))
                                            .mul(sums[spare + 48 + 8 * g + 7]),
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
