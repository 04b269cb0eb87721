package roselle.tensor;

import static roselle.tensor.StoredNumbers.float16;
import static roselle.tensor.StoredNumbers.int8;
import static roselle.tensor.StoredNumbers.uint8;

import java.lang.foreign.MemorySegment;

/**
 * Conversion of ggml's "K" blocks of 256: groups of 16 or 32 with small integer scales, under one or two f16 scales.
 *
 * <p>Quants are packed so that a byte holds the same position of several groups: in Q4_K the low nibbles of 32 bytes
 * are one group and the high nibbles the next.
 */
final class SuperBlocks {
    /** Scales and minima of Q4_K and Q5_K: 0 to 3 in bytes 4 to 11, 4 to 7 shared between bytes 12 to 15 and those. */
    static final BlockFactor SCALES = BlockFactor.half(0)
            .times(
                    CodeValues.unsigned(6),
                    BitPlane.oneToAByte(0, 4, 4, 6, 0),
                    BitPlane.oneToAByte(4, 8, 12, 4, 0),
                    BitPlane.oneToAByte(4, 8, 4, 2, 6).above(4));

    static final BlockFactor MINIMA = BlockFactor.half(2)
            .times(
                    CodeValues.unsigned(6),
                    BitPlane.oneToAByte(0, 4, 8, 6, 0),
                    BitPlane.oneToAByte(4, 8, 12, 4, 4),
                    BitPlane.oneToAByte(4, 8, 8, 2, 6).above(4));

    private static final int ELEMENTS = 256;

    private SuperBlocks() {}

    // 16 bytes of scale (low) and minimum (high) | 64 bytes of 2-bit quants | scale f16 | scale of minimums f16
    static void q2_k(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset + 80);
        float minimumScale = float16(source, offset + 82);
        for (int i = 0; i < ELEMENTS; i++) {
            int scales = uint8(source, offset + i / 16);
            int quant = twoBits(source, offset + 16, i);
            float groupScale = scale * (scales & 0xF);
            float groupMinimum = minimumScale * (scales >> 4);
            target[start + i] = groupScale * quant - groupMinimum;
        }
    }

    // 32 bytes of third bits | 64 bytes of 2-bit quants | 12 bytes of 6-bit scales | scale f16
    static void q3_k(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset + 108);
        for (int i = 0; i < ELEMENTS; i++) {
            int quant = twoBits(source, offset + 32, i);
            int third = (uint8(source, offset + i % 32) >> (i / 32)) & 1;
            float groupScale = scale * (q3Scale(source, offset + 96, i / 16) - 32);
            target[start + i] = groupScale * (quant - 4 * (1 - third)); // the bit is stored inverted
        }
    }

    // scale f16 | scale of minimums f16 | 12 bytes of 6-bit scales and minimums | 128 bytes of 4-bit quants
    static void q4_k(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        float minimumScale = float16(source, offset + 2);
        for (int group = 0; group < 8; group++) {
            float groupScale = scale * scale(source, offset + 4, group);
            float groupMinimum = minimumScale * minimum(source, offset + 4, group);
            for (int i = 0; i < 32; i++) {
                int quant = nibble(source, offset + 16, group, i);
                target[start + group * 32 + i] = groupScale * quant - groupMinimum;
            }
        }
    }

    // as Q4_K, with 32 bytes of fifth bits before the quants
    static void q5_k(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        float minimumScale = float16(source, offset + 2);
        for (int group = 0; group < 8; group++) {
            float groupScale = scale * scale(source, offset + 4, group);
            float groupMinimum = minimumScale * minimum(source, offset + 4, group);
            for (int i = 0; i < 32; i++) {
                int fifth = (uint8(source, offset + 16 + i) >> group) & 1;
                int quant = nibble(source, offset + 48, group, i) | (fifth << 4);
                target[start + group * 32 + i] = groupScale * quant - groupMinimum;
            }
        }
    }

    // 128 bytes of low nibbles | 64 bytes of upper 2 bits | 16 signed scales | scale f16
    static void q6_k(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset + 208);
        for (int i = 0; i < ELEMENTS; i++) {
            int within = i % 128;
            int low = (uint8(source, offset + 64L * (i / 128) + within % 64) >> (4 * (within / 64))) & 0xF;
            int high = twoBits(source, offset + 128, i);
            float groupScale = scale * int8(source, offset + 192 + i / 16);
            target[start + i] = groupScale * ((low | (high << 4)) - 32);
        }
    }

    /** Element {@code i} of 256: 32 bytes hold 128 elements, position {@code i % 32} of four groups in each byte. */
    private static int twoBits(MemorySegment source, long offset, int i) {
        int within = i % 128;
        return (uint8(source, offset + 32L * (i / 128) + within % 32) >> (2 * (within / 32))) & 3;
    }

    private static int nibble(MemorySegment source, long offset, int group, int i) {
        return (uint8(source, offset + 32L * (group / 2) + i) >> (4 * (group % 2))) & 0xF;
    }

    /** Scale 0 to 15 of Q3_K: low nibbles in bytes 0 to 7, upper two bits in bytes 8 to 11. */
    private static int q3Scale(MemorySegment source, long offset, int group) {
        int low = (uint8(source, offset + group % 8) >> (4 * (group / 8))) & 0xF;
        int high = (uint8(source, offset + 8 + group % 4) >> (2 * (group / 4))) & 3;
        return low | (high << 4);
    }

    /** Scale 0 to 7 of Q4_K and Q5_K: 0 to 3 in bytes 0 to 3, 4 to 7 shared between bytes 8 to 11 and 0 to 3. */
    private static int scale(MemorySegment source, long offset, int group) {
        if (group < 4) {
            return uint8(source, offset + group) & 0x3F;
        }
        return (uint8(source, offset + 4 + group) & 0xF) | ((uint8(source, offset + group - 4) >> 2) & 0x30);
    }

    private static int minimum(MemorySegment source, long offset, int group) {
        if (group < 4) {
            return uint8(source, offset + 4 + group) & 0x3F;
        }
        return (uint8(source, offset + 4 + group) >> 4) | ((uint8(source, offset + group) >> 2) & 0x30);
    }
}
