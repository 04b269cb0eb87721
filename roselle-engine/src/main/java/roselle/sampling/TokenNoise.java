package roselle.sampling;

/**
 * Noise of tokens: for each (seed, position, token id) a number of the exponential distribution with mean 1, independent of all
 * others.
 *
 * <p>Ids come in spans of 32 neighbours. A span has its least noise, exponential with mean 1/32, and the id that has it, each as
 * likely as the others; the noise of the rest lies above that by exponentials of their own. As exponentials have no memory, these
 * are 32 independent ones; and one number tells of a whole span that its noise is above a limit, for which most need not be
 * looked at.
 *
 * <p>Plain arithmetic in a fixed order: {@code noise.cuh} has the same bits.
 */
final class TokenNoise {
    /** Ids of a span: the token {@code id} is in the span {@code id >>> SPAN_SHIFT}. */
    static final int SPAN = 32;

    static final int SPAN_SHIFT = 5;

    private static final int OF_TOKEN = 0; // kinds of random bits
    private static final int OF_SPAN = 1;
    private static final int FRACTION_SHIFT = 12; // leaves 52 bits; the lowest five say which id has the least noise
    private static final double FRACTION_UNIT = 0x1p-52;
    private static final long ROOT_OF_HALF = 0x3FE6A09E667F3BCDL;
    private static final double LN2 = 0.6931471805599453;

    private TokenNoise() {}

    static long spanBits(long seed, int position, int span) {
        return CounterRandom.bits(seed, position, span, OF_SPAN);
    }

    /** A number that no noise of the span is below. */
    static double bound(long spanBits) {
        return (1 - fraction(spanBits)) / SPAN; // -log(u) >= 1 - u
    }

    /** The noise of a token of the span with those bits. */
    static double of(long seed, int position, int id, long spanBits) {
        double least = exponential(spanBits) / SPAN;
        if (((id ^ spanBits) & (SPAN - 1)) == 0) {
            return least;
        }
        return least + exponential(CounterRandom.bits(seed, position, id, OF_TOKEN));
    }

    /** In [2^-53, 1 - 2^-53]. */
    private static double fraction(long bits) {
        return ((bits >>> FRACTION_SHIFT) + 0.5) * FRACTION_UNIT;
    }

    static double exponential(long bits) {
        return minusLog(fraction(bits));
    }

    /** The negative natural logarithm of a number in (0, 1), to within 1e-15 of itself. */
    static double minusLog(double x) {
        long bits = Double.doubleToRawLongBits(x);
        long power = (bits - ROOT_OF_HALF) >> 52;
        double m = Double.longBitsToDouble(bits - (power << 52)); // from sqrt(1/2) to sqrt(2); log(m) = 2 atanh(s)
        double s = (m - 1) / (m + 1);
        double t = s * s;
        double sum = 2.0 / 19;
        sum = sum * t + 2.0 / 17;
        sum = sum * t + 2.0 / 15;
        sum = sum * t + 2.0 / 13;
        sum = sum * t + 2.0 / 11;
        sum = sum * t + 2.0 / 9;
        sum = sum * t + 2.0 / 7;
        sum = sum * t + 2.0 / 5;
        sum = sum * t + 2.0 / 3;
        sum = sum * t + 2;
        return -(power * LN2) - sum * s;
    }
}
