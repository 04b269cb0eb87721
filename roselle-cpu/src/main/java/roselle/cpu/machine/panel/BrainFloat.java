package roselle.cpu.machine.panel;

/** Conversion of float32 to bfloat16, as the instructions of the processor do it. */
public final class BrainFloat {
    private static final int SIGN = 0x80000000;
    private static final int EXPONENT = 0x7F800000;

    private BrainFloat() {}

    /** The nearest bfloat16, ties to even; NaN stays NaN, and subnormal numbers become zero. */
    public static short of(float value) {
        int bits = Float.floatToRawIntBits(value);
        if ((bits & EXPONENT) == 0) {
            return (short) ((bits & SIGN) >>> 16);
        }
        if (Float.isNaN(value)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }

    /** What is left of a number once {@link #of} has been taken from it, in bfloat16 too; of what is infinite, NaN. */
    public static short rest(float value) {
        if (Float.isInfinite(value)) {
            return (short) 0xFFC0; // what the processor makes of the difference of infinities
        }
        return of(Float.isNaN(value) ? value : value - toFloat(of(value)));
    }

    /** A bfloat16 as float32, exactly. */
    public static float toFloat(short value) {
        return Float.intBitsToFloat(value << 16);
    }
}
