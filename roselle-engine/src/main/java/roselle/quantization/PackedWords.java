package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import roselle.tensor.Tensor;

/**
 * Small whole numbers one after the other in 32-bit words, from the lowest bit on; they may lie across two words.
 *
 * @param words {@code [lines, words]}, or {@code [words, lines]} where lines go down
 * @param interleaves whether of eight numbers the even ones come first, as AWQ has them
 */
record PackedWords(Tensor words, int bits, boolean goesDown, boolean interleaves) {
    static final int WORD = Integer.SIZE;
    static final int EIGHT = 8; // that interleave

    /** Words that so many numbers take. */
    static long wordsOf(long numbers, int bits) {
        return Math.ceilDiv(numbers * bits, WORD);
    }

    /** A number of a line. */
    int at(long line, long index) {
        long place = interleaves ? index - index % EIGHT + index % 2 * (EIGHT / 2) + index % EIGHT / 2 : index;
        long first = place * bits / WORD;
        int shift = (int) (place * bits % WORD);
        long both = word(line, first);
        if (shift + bits > WORD) {
            both |= word(line, first + 1) << WORD;
        }
        return (int) (both >>> shift) & ((1 << bits) - 1);
    }

    private long word(long line, long word) {
        long columns = words.shape().columns();
        long index = goesDown ? word * columns + line : line * columns + word;
        return Integer.toUnsignedLong(words.data().get(JAVA_INT_UNALIGNED, index * Integer.BYTES));
    }
}
