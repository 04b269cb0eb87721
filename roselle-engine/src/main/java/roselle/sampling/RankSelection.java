package roselle.sampling;

import java.util.Arrays;

/**
 * Finds the smallest set of highest-ranked candidates whose masses reach a target, without sorting.
 *
 * <p>Candidates rank by a 32-bit key, higher first, and of equal keys the one that comes first. Three passes of 11, 11 and
 * 10 bits add up masses by the key's digits and walk down to the digit in which the target is reached: what lies above it is
 * kept, what lies below is dropped, and the next pass looks only at the digit itself. With masses of 1 this is top-k, with
 * probabilities top-p. Sums run in candidate order, in float64: the same candidates give the same bits.
 */
final class RankSelection {
    private static final int DIGIT_BITS = 11;
    private static final int DIGITS = 1 << DIGIT_BITS;
    private static final int FIRST_SHIFT = 21;
    private static final int SECOND_SHIFT = 10;
    private static final int LAST_BITS = 10;

    private final double[] mass = new double[DIGITS];
    private int threshold;
    private double above;

    /** The key of a float: an int whose signed order is the order of floats; {@code -0f} must have been made {@code 0f}. */
    static int key(float value) {
        int bits = Float.floatToRawIntBits(value);
        return bits ^ ((bits >> 31) & Integer.MAX_VALUE);
    }

    /**
     * Marks the end of the set: afterwards a candidate with a key above {@link #threshold} is in, one below it is out, and of
     * those equal to it as many are in as are needed to get from {@link #massAbove} to the target.
     */
    void select(int[] keys, double[] masses, int count, double target) {
        above = 0;
        int prefix = digit(keys, masses, count, FIRST_SHIFT, 0, target);
        prefix = digit(keys, masses, count, SECOND_SHIFT, prefix, target);
        prefix = digit(keys, masses, count, 0, prefix, target);
        threshold = prefix ^ Integer.MIN_VALUE;
    }

    int threshold() {
        return threshold;
    }

    double massAbove() {
        return above;
    }

    /** Adds up masses by the digit at {@code shift}, among keys that begin like {@code prefix}, and returns the longer prefix. */
    private int digit(int[] keys, double[] masses, int count, int shift, int prefix, double target) {
        int bits = shift == 0 ? LAST_BITS : DIGIT_BITS;
        int digits = 1 << bits;
        Arrays.fill(mass, 0, digits, 0);
        boolean isFirst = shift == FIRST_SHIFT;
        int prefixShift = isFirst ? 0 : shift + bits;
        for (int i = 0; i < count; i++) {
            int key = keys[i] ^ Integer.MIN_VALUE; // unsigned order
            if (isFirst || key >>> prefixShift == prefix >>> prefixShift) {
                mass[(key >>> shift) & (digits - 1)] += masses[i];
            }
        }
        int lowest = -1;
        for (int at = digits - 1; at >= 0; at--) {
            if (mass[at] > 0) {
                lowest = at;
                if (above + mass[at] >= target) {
                    return prefix | (at << shift);
                }
                above += mass[at];
            }
        }
        // Rounding left the target out of reach: the lowest candidate is the end, and everything is in.
        above -= mass[lowest];
        return prefix | (lowest << shift);
    }
}
