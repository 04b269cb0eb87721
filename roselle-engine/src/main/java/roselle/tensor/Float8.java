package roselle.tensor;

import java.lang.foreign.MemorySegment;

/** Conversion of the two 8-bit floats of the OCP standard "8-bit Floating Point", revision 1.0. */
final class Float8 {
    private Float8() {}

    static void e4m3(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = e4m3(StoredNumbers.uint8(source, offset + i));
        }
    }

    static void e5m2(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = e5m2(StoredNumbers.uint8(source, offset + i));
        }
    }

    /** Four bits of exponent, bias 7; no infinity, and one NaN per sign. */
    private static float e4m3(int bits) {
        if ((bits & 0x7F) == 0x7F) {
            return Float.NaN;
        }
        float magnitude = magnitude(bits);
        return (bits & 0x80) == 0 ? magnitude : -magnitude;
    }

    /** A scale of NVFP4 as ggml reads it: the sign counts for nothing, and what is NaN where it is positive is zero. */
    static float unsignedE4m3(int bits) {
        return bits == 0x7F ? 0 : magnitude(bits);
    }

    private static float magnitude(int bits) {
        int exponent = (bits >> 3) & 0xF;
        int fraction = bits & 0x7;
        return exponent == 0 ? Math.scalb((float) fraction, -9) : Math.scalb(8f + fraction, exponent - 10);
    }

    /** The upper half of an IEEE binary16. */
    private static float e5m2(int bits) {
        return Float.float16ToFloat((short) (bits << 8));
    }
}
