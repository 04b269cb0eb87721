package roselle.sampling;

/**
 * Random bits as a function of a key and a counter: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", 2011). There is no state, so what is drawn does not depend on what else runs, nor on a preemption.
 */
final class CounterRandom {
    private static final long MULTIPLIER_A = 0xD2511F53L;
    private static final long MULTIPLIER_B = 0xCD9E8D57L;
    private static final int WEYL_A = 0x9E3779B9;
    private static final int WEYL_B = 0xBB67AE85;
    private static final int ROUNDS = 10;

    private CounterRandom() {}

    /** The first 64 of the bits that Philox gives for the key {@code seed} and the counter (position, index, kind). */
    static long bits(long seed, long position, int index, int kind) {
        int keyA = (int) seed;
        int keyB = (int) (seed >>> 32);
        int a = (int) position;
        int b = (int) (position >>> 32);
        int c = index;
        int d = kind;
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
