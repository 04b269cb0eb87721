package roselle.sampling;

/**
 * Random numbers as a function of (seed, position): Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", 2011). There is no state, so a draw does not depend on what else runs, nor on a preemption.
 */
public final class CounterRandom {
    private static final long MULTIPLIER_A = 0xD2511F53L;
    private static final long MULTIPLIER_B = 0xCD9E8D57L;
    private static final int WEYL_A = 0x9E3779B9;
    private static final int WEYL_B = 0xBB67AE85;
    private static final int ROUNDS = 10;
    private static final double UNIT = 0x1p-53;

    private CounterRandom() {}

    /** A number in [0, 1) with 53 random bits. */
    public static double uniform(long seed, long position) {
        return (bits(seed, position) >>> 11) * UNIT;
    }

    /** The first 64 bits that Philox gives for the key {@code seed} and the counter (position, 0). */
    static long bits(long seed, long position) {
        int keyA = (int) seed;
        int keyB = (int) (seed >>> 32);
        int a = (int) position;
        int b = (int) (position >>> 32);
        int c = 0;
        int d = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long productA = MULTIPLIER_A * (a & 0xFFFFFFFFL);
            long productB = MULTIPLIER_B * (c & 0xFFFFFFFFL);
            a = (int) (productB >>> 32) ^ b ^ keyA;
            b = (int) productB;
            c = (int) (productA >>> 32) ^ d ^ keyB;
            d = (int) productA;
            keyA += WEYL_A;
            keyB += WEYL_B;
        }
        return ((long) b << 32) | (a & 0xFFFFFFFFL);
    }
}
