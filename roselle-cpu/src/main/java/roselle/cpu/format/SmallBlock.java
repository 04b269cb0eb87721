package roselle.cpu.format;

import static jdk.incubator.vector.ByteVector.SPECIES_128;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static roselle.cpu.format.Packed.BIT;
import static roselle.cpu.format.Packed.BYTES;
import static roselle.cpu.format.Packed.FOURS;
import static roselle.cpu.format.Packed.NIBBLE;
import static roselle.cpu.format.Packed.SPREAD;
import static roselle.cpu.format.Packed.float16;
import static roselle.cpu.format.Packed.int32;
import static roselle.cpu.format.Unpacked.GROUP_NUMBERS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import roselle.tensor.DataType;

/**
 * Layouts of blocks of 32 numbers: a scale, perhaps a minimum, then quants.
 *
 * <p>Byte {@code i} of the 4-bit quants has number {@code i} below and number {@code i + 16} above.
 */
enum SmallBlock implements BlockLayout {
    Q8_0(DataType.Q8_0, false) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                for (int k = 0; k < NUMBERS; k += BYTES.length()) {
                    ByteVector.fromMemorySegment(BYTES, weights, p + 2 + k, ORDER)
                            .intoArray(bytes, quants + i + k);
                }
                p += 34;
            }
        }
    },

    Q4_0(DataType.Q4_0, false) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 2, ORDER);
                pairs.and((byte) 0xf).sub((byte) 8).intoArray(bytes, quants + i);
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .sub((byte) 8)
                        .intoArray(bytes, quants + i + 16);
                p += 18;
            }
        }
    },

    Q4_1(DataType.Q4_1, true) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            float[] minimums = target.minimums;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                float minimum = float16(weights, p + 2);
                minimums[g] = minimum;
                minimums[g + 1] = minimum;
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 4, ORDER);
                pairs.and((byte) 0xf).intoArray(bytes, quants + i);
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .intoArray(bytes, quants + i + 16);
                p += 20;
            }
        }
    },

    /** The fifth bits of the Q5 types are one word, number {@code i} in bit {@code i}. */
    Q5_0(DataType.Q5_0, false) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                int bits = int32(weights, p + 2);
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 6, ORDER);
                ByteVector fifths = IntVector.broadcast(IntVector.SPECIES_128, bits)
                        .lanewise(LSHR, FOURS)
                        .and(0xf)
                        .mul(SPREAD)
                        .and(BIT)
                        .lanewise(LSHL, 4)
                        .reinterpretAsBytes();
                pairs.and((byte) 0xf).or(fifths).sub((byte) 16).intoArray(bytes, quants + i);
                fifths = IntVector.broadcast(IntVector.SPECIES_128, bits >>> 16)
                        .lanewise(LSHR, FOURS)
                        .and(0xf)
                        .mul(SPREAD)
                        .and(BIT)
                        .lanewise(LSHL, 4)
                        .reinterpretAsBytes();
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .or(fifths)
                        .sub((byte) 16)
                        .intoArray(bytes, quants + i + 16);
                p += 22;
            }
        }
    },

    Q5_1(DataType.Q5_1, true) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            float[] minimums = target.minimums;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                float minimum = float16(weights, p + 2);
                minimums[g] = minimum;
                minimums[g + 1] = minimum;
                int bits = int32(weights, p + 4);
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 8, ORDER);
                ByteVector fifths = IntVector.broadcast(IntVector.SPECIES_128, bits)
                        .lanewise(LSHR, FOURS)
                        .and(0xf)
                        .mul(SPREAD)
                        .and(BIT)
                        .lanewise(LSHL, 4)
                        .reinterpretAsBytes();
                pairs.and((byte) 0xf).or(fifths).intoArray(bytes, quants + i);
                fifths = IntVector.broadcast(IntVector.SPECIES_128, bits >>> 16)
                        .lanewise(LSHR, FOURS)
                        .and(0xf)
                        .mul(SPREAD)
                        .and(BIT)
                        .lanewise(LSHL, 4)
                        .reinterpretAsBytes();
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .or(fifths)
                        .intoArray(bytes, quants + i + 16);
                p += 24;
            }
        }
    },

    IQ4_NL(DataType.IQ4_NL, false) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int g = group + i / GROUP_NUMBERS;
                float scale = float16(weights, p);
                scales[g] = scale;
                scales[g + 1] = scale;
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 2, ORDER);
                pairs.and((byte) 0xf).selectFrom(NON_LINEAR).intoArray(bytes, quants + i);
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .selectFrom(NON_LINEAR)
                        .intoArray(bytes, quants + i + 16);
                p += 18;
            }
        }
    },

    /** The scale is E8M0, halved because the table is doubled: 2 to the power {@code exponent - 128}. */
    MXFP4(DataType.MXFP4, false) {
        @Override
        public void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group) {
            byte[] bytes = target.quants;
            float[] scales = target.scales;
            long p = offset;
            for (int i = 0; i < count; i += NUMBERS) {
                int exponent = Packed.uint8(weights, p);
                int g = group + i / GROUP_NUMBERS;
                float scale = Float.intBitsToFloat(exponent < 2 ? 0x00200000 << exponent : (exponent - 1) << 23);
                scales[g] = scale;
                scales[g + 1] = scale;
                ByteVector pairs = ByteVector.fromMemorySegment(SPECIES_128, weights, p + 1, ORDER);
                pairs.and((byte) 0xf).selectFrom(E2M1_DOUBLED).intoArray(bytes, quants + i);
                pairs.reinterpretAsInts()
                        .lanewise(LSHR, 4)
                        .and(NIBBLE)
                        .reinterpretAsBytes()
                        .selectFrom(E2M1_DOUBLED)
                        .intoArray(bytes, quants + i + 16);
                p += 17;
            }
        }
    };

    /** Steps of IQ4_NL and IQ4_XS. */
    static final ByteVector NON_LINEAR =
            Packed.table(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);

    /** The values of E2M1, doubled to be whole. */
    private static final ByteVector E2M1_DOUBLED =
            Packed.table(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);

    private static final int NUMBERS = 32;

    private final DataType type;
    private final boolean hasMinimums;

    SmallBlock(DataType type, boolean hasMinimums) {
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
}
