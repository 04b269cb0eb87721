package roselle.tensor;

import static roselle.tensor.StoredNumbers.float16;
import static roselle.tensor.StoredNumbers.int16;
import static roselle.tensor.StoredNumbers.int32;
import static roselle.tensor.StoredNumbers.uint8;

import java.lang.foreign.MemorySegment;

/** Conversion of ggml's types whose codes each stand for a vector of a {@link Codebook}: eight numbers, or twice four. */
final class CodebookBlocks {
    private static final int EIGHTS = 32; // of a block

    private CodebookBlocks() {}

    // scale f16 | for each 32: 4 codes, 4 times 7 bits of signs, 4 bits of scale
    static void iq2_xxs(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            long group = offset + 2 + i / 4 * 8L;
            int shared = int32(source, group + 4);
            float groupScale = scale * (0.5f + (shared >>> 28)) * 0.25f;
            int signs = withParity(shared >> (i % 4 * 7));
            signed(Codebook.IQ2_XXS, uint8(source, group + i % 4), signs, groupScale, target, start + 8 * i);
        }
    }

    // scale f16 | 32 times 9 bits of code and 7 of signs | 16 scales of 4 bits
    static void iq2_xs(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            int both = int16(source, offset + 2 + 2L * i);
            float groupScale = scale * (0.5f + nibble(source, offset + 66, i / 2)) * 0.25f;
            signed(Codebook.IQ2_XS, both & 511, withParity(both >> 9), groupScale, target, start + 8 * i);
        }
    }

    // scale f16 | low bytes of 32 codes | 32 bytes of signs | their upper 2 bits | 16 scales of 4 bits
    static void iq2_s(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            int upper = uint8(source, offset + 66 + i / 4) >> (i % 4 * 2) & 3;
            float groupScale = scale * (0.5f + nibble(source, offset + 74, i / 2)) * 0.25f;
            int code = uint8(source, offset + 2 + i) | upper << 8;
            signed(Codebook.IQ2_S, code, uint8(source, offset + 34 + i), groupScale, target, start + 8 * i);
        }
    }

    // scale f16 | 64 codes | for each 32: 4 times 7 bits of signs, 4 bits of scale
    static void iq3_xxs(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            int shared = int32(source, offset + 66 + i / 4 * 4L);
            float groupScale = scale * (0.5f + (shared >>> 28)) * 0.5f;
            int signs = withParity(shared >> (i % 4 * 7));
            for (int half = 0; half < 2; half++) {
                int code = uint8(source, offset + 2 + 2L * i + half);
                signed(Codebook.IQ3_XXS, code, signs >> (4 * half), groupScale, target, start + 8 * i + 4 * half);
            }
        }
    }

    // scale f16 | low bytes of 64 codes | their ninth bits | 32 bytes of signs | 8 scales of 4 bits
    static void iq3_s(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            float groupScale = scale * (1 + 2 * nibble(source, offset + 106, i / 4));
            int signs = uint8(source, offset + 74 + i);
            for (int half = 0; half < 2; half++) {
                int number = 2 * i + half;
                int ninth = uint8(source, offset + 66 + number / 8) >> (number % 8) & 1;
                int code = uint8(source, offset + 2 + number) | ninth << 8;
                signed(Codebook.IQ3_S, code, signs >> (4 * half), groupScale, target, start + 4 * number);
            }
        }
    }

    // scale f16 | low bytes of 32 codes | for each 32: 4 times 3 upper bits, 3 bits of scale, sign of the shift
    static void iq1_s(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < EIGHTS; i++) {
            int shared = int16(source, offset + 34 + i / 4 * 2L);
            float groupScale = scale * (2 * (shared >> 12 & 7) + 1);
            int code = uint8(source, offset + 2 + i) | (shared >> (i % 4 * 3) & 7) << 8;
            shifted(code, shared < 0, groupScale, target, start + 8 * i);
        }
    }

    // low bytes of 32 codes | for each code 3 upper bits, sign of the shift | 4 times 4 scales of 3 bits, 4 bits of
    // scale f16
    static void iq1_m(MemorySegment source, long offset, float[] target, int start) {
        int whole = 0;
        for (int i = 0; i < 4; i++) {
            whole |= (int16(source, offset + 48 + 2L * i) >> 12 & 0xF) << (4 * i);
        }
        float scale = Float.float16ToFloat((short) whole);
        for (int i = 0; i < EIGHTS; i++) {
            int group = i / 2;
            int part = int16(source, offset + 48 + group / 4 * 2L) >> (group % 4 * 3) & 7;
            int upper = nibble(source, offset + 32, i);
            int code = uint8(source, offset + i) | (upper & 7) << 8;
            shifted(code, upper > 7, scale * (2 * part + 1), target, start + 8 * i);
        }
    }

    private static int nibble(MemorySegment source, long offset, int index) {
        return uint8(source, offset + index / 2) >> (index % 2 * 4) & 0xF;
    }

    /** Seven signs, and the eighth, which makes those that are set even in number. */
    private static int withParity(int bits) {
        int seven = bits & 0x7F;
        return seven | (Integer.bitCount(seven) & 1) << 7;
    }

    /** A vector of the book, with signs from the lowest bit on. */
    private static void signed(Codebook book, int code, int signs, float scale, float[] target, int start) {
        for (int j = 0; j < book.length(); j++) {
            int size = book.at(code, j);
            target[start + j] = scale * ((signs >> j & 1) == 0 ? size : -size);
        }
    }

    /** Eight of -1, 0 and 1, an eighth more or less. */
    private static void shifted(int code, boolean isLess, float scale, float[] target, int start) {
        float shift = isLess ? -0.125f : 0.125f;
        for (int j = 0; j < 8; j++) {
            target[start + j] = scale * (Codebook.IQ1.at(code, j) + shift);
        }
    }
}
