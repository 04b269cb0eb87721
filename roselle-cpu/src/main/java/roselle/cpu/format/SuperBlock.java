package roselle.cpu.format;

import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static roselle.cpu.format.Packed.BIT;
import static roselle.cpu.format.Packed.BYTES;
import static roselle.cpu.format.Packed.NIBBLE;
import static roselle.cpu.format.Packed.TWO_BITS;
import static roselle.cpu.format.Packed.float16;
import static roselle.cpu.format.Packed.int32;
import static roselle.cpu.format.Packed.scales;
import static roselle.cpu.format.Packed.scalesOfTwo;
import static roselle.cpu.format.Unpacked.GROUP_NUMBERS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import roselle.tensor.DataType;

/**
 * Layouts of blocks of 256 numbers in groups of 16 or 32, each with a small scale, perhaps a minimum, under factors of the
 * whole block.
 *
 * <p>32 bytes have the same places of two or four times 32 numbers, which follow each other: the lowest bits first.
 */
enum SuperBlock implements BlockLayout {
    /** 16 bytes of scale (low) and minimum (high), 64 bytes of 2-bit quants, a factor of scales, one of minimums. */
    Q2_K(DataType.Q2_K, true) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 8; i++) {
                for (int k = 0; k < 32; k += WIDTH) {
                    ByteVector fours =
                            ByteVector.fromMemorySegment(BYTES, weights, block + 16 + i / 4 * 32L + k, ORDER);
                    fours.reinterpretAsInts()
                            .lanewise(LSHR, i % 4 * 2)
                            .and(TWO_BITS)
                            .reinterpretAsBytes()
                            .intoArray(target, at + 32 * i + k);
                }
            }
        }

        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            float scale = float16(weights, block + 80);
            float minimum = -float16(weights, block + 82);
            for (int i = 0; i < 16; i += 4) {
                int both = int32(weights, block + i);
                scales(both & NIBBLE, 0, scale, target.scales, at + i);
                scales((both >>> 4) & NIBBLE, 0, minimum, target.minimums, at + i);
            }
        }
    },

    /** 32 bytes of third bits, stored inverted, 64 bytes of 2-bit quants, 12 bytes of 6-bit scales, their factor. */
    Q3_K(DataType.Q3_K, false) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 8; i++) {
                for (int k = 0; k < 32; k += WIDTH) {
                    ByteVector fours =
                            ByteVector.fromMemorySegment(BYTES, weights, block + 32 + i / 4 * 32L + k, ORDER);
                    ByteVector thirds = ByteVector.fromMemorySegment(BYTES, weights, block + k, ORDER);
                    fours.reinterpretAsInts()
                            .lanewise(LSHR, i % 4 * 2)
                            .and(TWO_BITS)
                            .reinterpretAsBytes()
                            .or(thirds.reinterpretAsInts()
                                    .lanewise(LSHR, i)
                                    .and(BIT)
                                    .lanewise(LSHL, 2)
                                    .reinterpretAsBytes())
                            .sub((byte) 4)
                            .intoArray(target, at + 32 * i + k);
                }
            }
        }

        // low nibbles of 16 scales in bytes 0 to 7, their upper two bits in bytes 8 to 11
        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            int a = int32(weights, block + 96);
            int b = int32(weights, block + 100);
            int upper = int32(weights, block + 104);
            float factor = float16(weights, block + 108);
            scales((a & NIBBLE) | ((upper & TWO_BITS) << 4), 32, factor, target.scales, at);
            scales((b & NIBBLE) | (((upper >>> 2) & TWO_BITS) << 4), 32, factor, target.scales, at + 4);
            scales(((a >>> 4) & NIBBLE) | (((upper >>> 4) & TWO_BITS) << 4), 32, factor, target.scales, at + 8);
            scales(((b >>> 4) & NIBBLE) | (((upper >>> 6) & TWO_BITS) << 4), 32, factor, target.scales, at + 12);
        }
    },

    /** A factor of scales, one of minimums, 12 bytes of both, 128 bytes of 4-bit quants. */
    Q4_K(DataType.Q4_K, true) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < 32; k += WIDTH) {
                    ByteVector pairs = ByteVector.fromMemorySegment(BYTES, weights, block + 16 + 32L * i + k, ORDER);
                    pairs.and((byte) 0xf).intoArray(target, at + 64 * i + k);
                    pairs.reinterpretAsInts()
                            .lanewise(LSHR, 4)
                            .and(NIBBLE)
                            .reinterpretAsBytes()
                            .intoArray(target, at + 64 * i + 32 + k);
                }
            }
        }

        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            scalesAndMinimums(weights, block, target, at);
        }
    },

    /** As Q4_K, with 32 bytes of fifth bits before the quants. */
    Q5_K(DataType.Q5_K, true) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < 32; k += WIDTH) {
                    ByteVector pairs = ByteVector.fromMemorySegment(BYTES, weights, block + 48 + 32L * i + k, ORDER);
                    ByteVector fifths = ByteVector.fromMemorySegment(BYTES, weights, block + 16 + k, ORDER);
                    pairs.and((byte) 0xf)
                            .or(fifths.reinterpretAsInts()
                                    .lanewise(LSHR, 2 * i)
                                    .and(BIT)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .intoArray(target, at + 64 * i + k);
                    pairs.reinterpretAsInts()
                            .lanewise(LSHR, 4)
                            .and(NIBBLE)
                            .reinterpretAsBytes()
                            .or(fifths.reinterpretAsInts()
                                    .lanewise(LSHR, 2 * i + 1)
                                    .and(BIT)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .intoArray(target, at + 64 * i + 32 + k);
                }
            }
        }

        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            scalesAndMinimums(weights, block, target, at);
        }
    },

    /** 128 bytes of low nibbles, 64 bytes of upper pairs, 16 signed scales, their factor. */
    Q6_K(DataType.Q6_K, false) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 2; i++) {
                for (int k = 0; k < 32; k += WIDTH) {
                    ByteVector a = ByteVector.fromMemorySegment(BYTES, weights, block + 64L * i + k, ORDER);
                    ByteVector b = ByteVector.fromMemorySegment(BYTES, weights, block + 64L * i + 32 + k, ORDER);
                    ByteVector upper = ByteVector.fromMemorySegment(BYTES, weights, block + 128 + 32L * i + k, ORDER);
                    int to = at + 128 * i + k;
                    a.and((byte) 0xf)
                            .or(upper.reinterpretAsInts()
                                    .and(TWO_BITS)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .sub((byte) 32)
                            .intoArray(target, to);
                    b.and((byte) 0xf)
                            .or(upper.reinterpretAsInts()
                                    .lanewise(LSHR, 2)
                                    .and(TWO_BITS)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .sub((byte) 32)
                            .intoArray(target, to + 32);
                    a.reinterpretAsInts()
                            .lanewise(LSHR, 4)
                            .and(NIBBLE)
                            .reinterpretAsBytes()
                            .or(upper.reinterpretAsInts()
                                    .lanewise(LSHR, 4)
                                    .and(TWO_BITS)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .sub((byte) 32)
                            .intoArray(target, to + 64);
                    b.reinterpretAsInts()
                            .lanewise(LSHR, 4)
                            .and(NIBBLE)
                            .reinterpretAsBytes()
                            .or(upper.reinterpretAsInts()
                                    .lanewise(LSHR, 6)
                                    .and(TWO_BITS)
                                    .lanewise(LSHL, 4)
                                    .reinterpretAsBytes())
                            .sub((byte) 32)
                            .intoArray(target, to + 96);
                }
            }
        }

        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            float factor = float16(weights, block + 208);
            for (int i = 0; i < 16; i++) {
                target.scales[at + i] = factor * weights.get(ValueLayout.JAVA_BYTE, block + 192 + i);
            }
        }
    },

    /** A factor, upper 2 bits of 8 scales, their lower 4 bits, 128 bytes of quants, each group's as in a small block. */
    IQ4_XS(DataType.IQ4_XS, false) {
        @Override
        void quants(MemorySegment weights, long block, byte[] target, int at) {
            for (int i = 0; i < 8; i++) {
                ByteVector pairs =
                        ByteVector.fromMemorySegment(ByteVector.SPECIES_128, weights, block + 8 + 16L * i, ORDER);
                pairs.and((byte) 0xf).selectFrom(SmallBlock.NON_LINEAR).intoArray(target, at + 32 * i);
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .selectFrom(SmallBlock.NON_LINEAR)
                        .intoArray(target, at + 32 * i + 16);
            }
        }

        @Override
        void groups(MemorySegment weights, long block, Unpacked target, int at) {
            float factor = float16(weights, block);
            int upper = Packed.int16(weights, block + 2);
            int lower = int32(weights, block + 4);
            for (int i = 0; i < 8; i++) {
                int scale = ((lower >>> (4 * i)) & 0xf) | (((upper >>> (2 * i)) & 3) << 4);
                float scaled = factor * (scale - 32);
                target.scales[at + 2 * i] = scaled;
                target.scales[at + 2 * i + 1] = scaled;
            }
        }
    };

    private static final int NUMBERS = 256;
    private static final int WIDTH = BYTES.length();

    private final DataType type;
    private final boolean hasMinimums;

    SuperBlock(DataType type, boolean hasMinimums) {
        this.type = type;
        this.hasMinimums = hasMinimums;
    }

    @Override
    public DataType type() {
        return type;
    }

    @Override
    public boolean hasMinimums() {
        return hasMinimums;
    }

    @Override
    public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
        long p = offset;
        for (int i = 0; i < count; i += NUMBERS) {
            quants(weights, p, target.quants, quants + i);
            groups(weights, p, target, group + i / GROUP_NUMBERS);
            p += type.blockBytes();
        }
    }

    /** Unpacks the quants of a block. */
    abstract void quants(MemorySegment weights, long block, byte[] target, int at);

    /** Unpacks the scales of a block, and its minimums, which are added. */
    abstract void groups(MemorySegment weights, long block, Unpacked target, int at);

    /**
     * Eight scales and eight minimums of six bits in twelve bytes: the first four of both lie in the low bits of bytes 0 to
     * 7; the others have their low halves in bytes 8 to 11, scales below minimums, and their high pairs on top of the first.
     */
    private static void scalesAndMinimums(MemorySegment weights, long block, Unpacked target, int at) {
        float factor = float16(weights, block);
        float minimum = -float16(weights, block + 2);
        int first = int32(weights, block + 4);
        int firstMinimums = int32(weights, block + 8);
        int halves = int32(weights, block + 12);
        scalesOfTwo(first & 0x3f3f3f3f, factor, target.scales, at);
        scalesOfTwo((halves & NIBBLE) | ((first >>> 2) & 0x30303030), factor, target.scales, at + 8);
        scalesOfTwo(firstMinimums & 0x3f3f3f3f, minimum, target.minimums, at);
        scalesOfTwo(((halves >>> 4) & NIBBLE) | ((firstMinimums >>> 2) & 0x30303030), minimum, target.minimums, at + 8);
    }
}
