package roselle.quantization.encoding;

import java.util.Arrays;

/** Puts small numbers at their places in a block. */
final class Codes {
    /** Added to a number within 22 bits, it leaves no bits for a fraction: the sum is rounded to an integer, ties to even. */
    static final float ROUNDING = 0x1.8p23f;

    private Codes() {}

    /**
     * Adds bits of numbers to a plane, as {@link roselle.tensor.BitPlane} describes it: a run of bytes has the first numbers in its
     * lowest bits, the next ones above them.
     *
     * @param above bits of each number that belong elsewhere, below these
     */
    static void put(int[] numbers, byte[] target, int at, int run, int bits, int above) {
        int perByte = Byte.SIZE / bits;
        int mask = (1 << bits) - 1;
        for (int i = 0; i < numbers.length; i++) {
            int place = at + i / (run * perByte) * run + i % run;
            int shift = i % (run * perByte) / run * bits;
            target[place] |= (byte) (((numbers[i] >> above) & mask) << shift);
        }
    }

    /** Stores a number as f16 and returns what is stored. */
    static float half(float number, byte[] target, int at) {
        short bits = Float.floatToFloat16(number);
        target[at] = (byte) bits;
        target[at + 1] = (byte) (bits >> Byte.SIZE);
        return Float.float16ToFloat(bits);
    }

    /** The nearest integer of a number within 22 bits, ties to even. */
    static int nearest(float number) {
        return Float.floatToRawIntBits(number + ROUNDING) - Float.floatToRawIntBits(ROUNDING);
    }

    static void clear(byte[] target, int at, int count) {
        Arrays.fill(target, at, at + count, (byte) 0);
    }
}
