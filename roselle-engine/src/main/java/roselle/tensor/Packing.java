package roselle.tensor;

/**
 * What a block of a number format is made of: codes, scales of groups of them, and what multiplies those scales. All that
 * is not a code follows from it, above all the bytes of a block.
 *
 * @param elements numbers of a block; 1 for plain types, which have nothing but codes
 * @param bits of a code
 * @param group neighbours that share a scale
 * @param scaleBits of a group's scale
 * @param minimumBits of what is subtracted or added for a group; 0 where there is none
 * @param overallBits of what multiplies the scales and minima of the whole block; 0 where there is none
 */
public record Packing(int elements, int bits, int group, int scaleBits, int minimumBits, int overallBits) {
    public Packing {
        if (elements < 1 || bits < 1 || group < 1 || elements % group != 0) {
            throw new IllegalArgumentException(elements + " numbers of " + bits + " bits in groups of " + group);
        }
    }

    /** Numbers of so many bits one after the other. */
    static Packing plain(int bits) {
        return new Packing(1, bits, 1, 0, 0, 0);
    }

    /** Blocks of one group with a scale of its own. */
    static Packing block(int elements, int bits, int scaleBits) {
        return new Packing(elements, bits, elements, scaleBits, 0, 0);
    }

    /** The same in several groups. */
    Packing grouped(int numbers, int scaleBitsOfEach) {
        return new Packing(elements, bits, numbers, scaleBitsOfEach, minimumBits, overallBits);
    }

    /** The same with a minimum for each group. */
    Packing withMinima(int bitsOfEach) {
        return new Packing(elements, bits, group, scaleBits, bitsOfEach, overallBits);
    }

    int bytes() {
        return (elements * bits + elements / group * (scaleBits + minimumBits) + overallBits) / Byte.SIZE;
    }

    /** A block of groups under this many bits of overall factors. */
    static Packing superBlock(int bits, int overallBits) {
        return new Packing(256, bits, 256, 0, 0, overallBits);
    }

    /** A block of 256 whose neighbours share codes; what it has beyond so many bits for each of them belongs to all. */
    static Packing shared(int bits, int bytes) {
        return superBlock(bits, bytes * Byte.SIZE - 256 * bits);
    }
}
