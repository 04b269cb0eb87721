package roselle.cpu.format;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;

/** Cached numbers to float32 and back, one at a time. */
public final class ScalarFormats {
    private ScalarFormats() {}

    /** One number of a plain floating-point type. */
    public static float load(DataType type, MemorySegment source, long byteOffset) {
        return switch (type) {
            case F32 -> source.get(JAVA_FLOAT_UNALIGNED, byteOffset);
            case F16 -> Float.float16ToFloat(source.get(JAVA_SHORT_UNALIGNED, byteOffset));
            case BF16 -> Float.intBitsToFloat(source.get(JAVA_SHORT_UNALIGNED, byteOffset) << 16);
            default -> throw new IllegalArgumentException("not a plain floating-point type: " + type.label());
        };
    }

    /** Stores one number, rounded to nearest, ties to even. */
    public static void store(DataType type, MemorySegment target, long byteOffset, float value) {
        switch (type) {
            case F32 -> target.set(JAVA_FLOAT_UNALIGNED, byteOffset, value);
            case F16 -> target.set(JAVA_SHORT_UNALIGNED, byteOffset, Float.floatToFloat16(value));
            case BF16 -> target.set(JAVA_SHORT_UNALIGNED, byteOffset, floatToBfloat16(value));
            default -> throw new IllegalArgumentException("not a plain floating-point type: " + type.label());
        }
    }

    /** The bfloat16 nearest to a number, ties to even; NaN stays NaN. */
    static short floatToBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }
}
