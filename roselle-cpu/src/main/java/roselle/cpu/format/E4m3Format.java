package roselle.cpu.format;

import static roselle.cpu.vector.Lanes.BYTES;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.INTS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/**
 * FP8 of four bits of exponent: its exponent and fraction at the place of a float32's are the number divided by 2 to the 120,
 * subnormals too, so that one exact product gives it. All bits set but the sign is NaN.
 */
final class E4m3Format implements WeightFormat {
    private static final Dequantizer SCALAR = Dequantizer.of(DataType.F8_E4M3);
    private static final int SIZE = 0x7f;
    private static final int SIGN = 0x80;

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        int i = 0;
        int target = at;
        for (; i + BYTES.length() <= count; i += COUNT) { // a vector of bytes may be longer than one of floats
            IntVector code = (IntVector) ByteVector.fromMemorySegment(BYTES, weights, offset + i, ORDER)
                    .castShape(INTS, 0);
            IntVector size = code.and(SIZE);
            FloatVector number = size.lanewise(VectorOperators.LSHL, 20)
                    .reinterpretAsFloats()
                    .mul(0x1p120f);
            IntVector sign = code.and(SIGN).lanewise(VectorOperators.LSHL, 24);
            FloatVector signed = number.reinterpretAsInts().or(sign).reinterpretAsFloats();
            signed.blend(Float.NaN, size.compare(VectorOperators.EQ, SIZE).cast(signed.species()))
                    .intoArray(panel, target);
            target += step;
        }
        for (; i < count; i += COUNT) {
            WeightFormat.decodeRest(SCALAR, weights, offset + i, Math.min(COUNT, count - i), panel, target, scratch);
            target += step;
        }
    }
}
