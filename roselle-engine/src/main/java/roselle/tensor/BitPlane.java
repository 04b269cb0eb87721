package roselle.tensor;

import java.lang.foreign.MemorySegment;

/**
 * Where some bits of each of several small numbers lie in a block.
 *
 * <p>Bytes come in runs. A run of {@code run} bytes has {@code run * perByte} numbers that follow each other: the first ones
 * lowest in their bytes, the next ones above them. So ggml's low and high nibbles are two to a byte; where a run is one byte,
 * neighbours share it.
 *
 * @param first number that has such bits
 * @param end the number behind the last one
 * @param at byte of the block where the bits begin
 * @param run bytes of a run
 * @param perByte numbers of a byte
 * @param bits of each number here
 * @param shift bits of a byte that lie below the first number
 * @param above bits of a number that lie below these, in another plane
 */
public record BitPlane(int first, int end, int at, int run, int perByte, int bits, int shift, int above) {
    public BitPlane {
        if (first < 0 || end <= first || run < 1 || bits < 1 || shift < 0 || shift + perByte * bits > Byte.SIZE) {
            throw new IllegalArgumentException(perByte + " numbers of " + bits + " bits in a byte, from bit " + shift
                    + ", of numbers " + first + " to " + end);
        }
    }

    /** Whole bytes of numbers, as many as fit into each. */
    static BitPlane of(int count, int at, int run, int bits) {
        return new BitPlane(0, count, at, run, Byte.SIZE / bits, bits, 0, 0);
    }

    /** One number to a byte, some bits from its lowest. */
    static BitPlane oneToAByte(int first, int end, int at, int bits, int shift) {
        return new BitPlane(first, end, at, end - first, 1, bits, shift, 0);
    }

    /** The same bits above others of the number. */
    BitPlane above(int others) {
        return new BitPlane(first, end, at, run, perByte, bits, shift, others);
    }

    /** Which byte of the block has a number's bits. */
    int byteOf(int number) {
        int index = number - first;
        return at + index / (run * perByte) * run + index % run;
    }

    /** How many bits of that byte lie below them. */
    int shiftOf(int number) {
        return shift + (number - first) % (run * perByte) / run * bits;
    }

    /** The bits of a number at their place in it; none of a number that has none here. */
    int get(MemorySegment source, long block, int number) {
        if (number < first || number >= end) {
            return 0;
        }
        int whole = StoredNumbers.uint8(source, block + byteOf(number));
        return ((whole >> shiftOf(number)) & mask()) << above;
    }

    private int mask() {
        return (1 << bits) - 1;
    }

    /** Adds the bits of all numbers, eight to a word, a byte each. */
    void unpack(MemorySegment source, long block, long[] eights) {
        if (run % Long.BYTES == 0 && first % Long.BYTES == 0 && end % Long.BYTES == 0) {
            unpackRuns(source, block, eights);
            return;
        }
        for (int number = first; number < end; number++) {
            eights[number / Long.BYTES] |= (long) get(source, block, number) << (number % Long.BYTES * Byte.SIZE);
        }
    }

    private void unpackRuns(MemorySegment source, long block, long[] eights) {
        long mask = mask() * 0x0101_0101_0101_0101L;
        int words = run / Long.BYTES;
        long from = block + at;
        for (int to = first / Long.BYTES; to < end / Long.BYTES; to += words * perByte) {
            for (int i = 0; i < words; i++) {
                long packed = StoredNumbers.int64(source, from) >>> shift;
                for (int each = to + i; each < Math.min(to + words * perByte, end / Long.BYTES); each += words) {
                    eights[each] |= (packed & mask) << above;
                    packed >>>= bits;
                }
                from += Long.BYTES;
            }
        }
    }
}
