package roselle.sampling;

/**
 * e to the power of x for x ≤ 0, by plain arithmetic.
 *
 * <p>The library's {@code exp} may differ in the last bit between platforms and takes a call for each number; this one gives
 * the same bits everywhere and the compiler inlines it. Its relative error is below 1e-12.
 */
final class Exponential {
    /** Below it the result is taken as that of this number, 1e-304: it weighs nothing beside 1. */
    private static final double LEAST = -700;

    private static final double LOG2_E = 1.4426950408889634;
    private static final double LN2_HIGH = 0x1.62e42fefa0000p-1;
    private static final double LN2_LOW = 0x1.cf79abc9e3b39p-40;
    /** Adding it rounds to an integer, which then stands in the lowest bits. */
    private static final double ROUNDING = 0x1.8p52;

    private Exponential() {}

    static double of(double x) {
        double clamped = Math.max(x, LEAST);
        double shifted = clamped * LOG2_E + ROUNDING;
        double power = shifted - ROUNDING;
        double r = clamped - power * LN2_HIGH - power * LN2_LOW; // |r| <= ln(2) / 2
        double sum = 1.0 / 3628800;
        sum = sum * r + 1.0 / 362880;
        sum = sum * r + 1.0 / 40320;
        sum = sum * r + 1.0 / 5040;
        sum = sum * r + 1.0 / 720;
        sum = sum * r + 1.0 / 120;
        sum = sum * r + 1.0 / 24;
        sum = sum * r + 1.0 / 6;
        sum = sum * r + 0.5;
        sum = sum * r + 1;
        sum = sum * r + 1;
        long scale = (Double.doubleToRawLongBits(shifted) + 1023) << 52;
        return sum * Double.longBitsToDouble(scale);
    }
}
