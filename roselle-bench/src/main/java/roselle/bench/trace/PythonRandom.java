package roselle.bench.trace;

/**
 * The numbers of Python's {@code random.Random(seed).randrange(limit)}: the Mersenne Twister MT19937, seeded by the key
 * schedule of its authors, and rejection of draws beyond the limit.
 *
 * <p>So a workload defined by a Python script is the same here to the last token.
 */
public final class PythonRandom {
    private static final int SIZE = 624;
    private static final int SHIFT = 397;

    private final int[] state = new int[SIZE];
    private int position = SIZE;

    public PythonRandom(long seed) {
        int low = (int) Math.abs(seed);
        int high = (int) (Math.abs(seed) >>> 32);
        seedByKey(high == 0 ? new int[] {low} : new int[] {low, high});
    }

    /** {@code randrange(limit)}: as many bits as the limit has, drawn again while not below it. */
    public int below(int limit) {
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(limit);
        int value = next() >>> (Integer.SIZE - bits);
        while (value >= limit) {
            value = next() >>> (Integer.SIZE - bits);
        }
        return value;
    }

    private void seedByKey(int[] key) {
        state[0] = 19650218;
        for (int i = 1; i < SIZE; i++) {
            state[i] = 1812433253 * mixed(i) + i;
        }
        int i = 1;
        int j = 0;
        for (int round = 0; round < SIZE; round++) {
            state[i] = (state[i] ^ (mixed(i) * 1664525)) + key[j] + j;
            i = following(i);
            j = (j + 1) % key.length;
        }
        for (int round = 1; round < SIZE; round++) {
            state[i] = (state[i] ^ (mixed(i) * 1566083941)) - i;
            i = following(i);
        }
        state[0] = 0x80000000;
    }

    private int mixed(int i) {
        return state[i - 1] ^ (state[i - 1] >>> 30);
    }

    private int following(int i) {
        if (i + 1 < SIZE) {
            return i + 1;
        }
        state[0] = state[SIZE - 1];
        return 1;
    }

    private int next() {
        if (position == SIZE) {
            twist();
            position = 0;
        }
        int y = state[position++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        return y ^ (y >>> 18);
    }

    private void twist() {
        for (int i = 0; i < SIZE; i++) {
            int y = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
            state[i] = state[(i + SHIFT) % SIZE] ^ (y >>> 1) ^ ((y & 1) == 0 ? 0 : 0x9908b0df);
        }
    }
}
