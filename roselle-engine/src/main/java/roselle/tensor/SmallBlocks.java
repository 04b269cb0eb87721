package roselle.tensor;

import static roselle.tensor.StoredNumbers.float16;
import static roselle.tensor.StoredNumbers.int32;
import static roselle.tensor.StoredNumbers.int8;
import static roselle.tensor.StoredNumbers.uint8;

import java.lang.foreign.MemorySegment;

/**
 * Conversion of ggml's blocks of 32 with one scale, and in the {@code _1} types one minimum; and of blocks of 4 bits with a zero.
 *
 * <p>Byte {@code i} of the 4-bit quants holds element {@code i} below and element {@code i + 16} above; the fifth bits
 * of the Q5 types are one 32-bit word, element {@code i} in bit {@code i}.
 */
final class SmallBlocks {
    private static final int HALF = 16;

    private SmallBlocks() {}

    // scale f16 | 16 bytes of quants
    static void q4_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < HALF; i++) {
            int pair = uint8(source, offset + 2 + i);
            target[start + i] = scale * ((pair & 0xF) - 8);
            target[start + HALF + i] = scale * ((pair >> 4) - 8);
        }
    }

    // scale f16 | minimum f16 | 16 bytes of quants
    static void q4_1(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        float minimum = float16(source, offset + 2);
        for (int i = 0; i < HALF; i++) {
            int pair = uint8(source, offset + 4 + i);
            target[start + i] = scale * (pair & 0xF) + minimum;
            target[start + HALF + i] = scale * (pair >> 4) + minimum;
        }
    }

    // scale f16 | fifth bits | 16 bytes of quants
    static void q5_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        int fifths = int32(source, offset + 2);
        for (int i = 0; i < HALF; i++) {
            int pair = uint8(source, offset + 6 + i);
            target[start + i] = scale * (((pair & 0xF) | fifth(fifths, i)) - 16);
            target[start + HALF + i] = scale * (((pair >> 4) | fifth(fifths, i + HALF)) - 16);
        }
    }

    // scale f16 | minimum f16 | fifth bits | 16 bytes of quants
    static void q5_1(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        float minimum = float16(source, offset + 2);
        int fifths = int32(source, offset + 4);
        for (int i = 0; i < HALF; i++) {
            int pair = uint8(source, offset + 8 + i);
            target[start + i] = scale * ((pair & 0xF) | fifth(fifths, i)) + minimum;
            target[start + HALF + i] = scale * ((pair >> 4) | fifth(fifths, i + HALF)) + minimum;
        }
    }

    // scale f16 | 32 signed bytes
    static void q8_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < 2 * HALF; i++) {
            target[start + i] = int8(source, offset + 2 + i) * scale;
        }
    }

    // scale f32 | signed bytes
    static void i8_128(MemorySegment source, long offset, float[] target, int start) {
        scaledBytes(source, offset, target, start, 128);
    }

    static void i8_32(MemorySegment source, long offset, float[] target, int start) {
        scaledBytes(source, offset, target, start, 32);
    }

    private static void scaledBytes(MemorySegment source, long offset, float[] target, int start, int count) {
        float scale = float32(source, offset);
        for (int i = 0; i < count; i++) {
            target[start + i] = int8(source, offset + Float.BYTES + i) * scale;
        }
    }

    // scale f32 | zero f32 | 16 bytes of codes for each 32
    static void i4_128(MemorySegment source, long offset, float[] target, int start) {
        codesLessZero(source, offset, target, start, 4);
    }

    static void i4_32(MemorySegment source, long offset, float[] target, int start) {
        codesLessZero(source, offset, target, start, 1);
    }

    private static void codesLessZero(MemorySegment source, long offset, float[] target, int start, int runs) {
        float scale = float32(source, offset);
        float zero = float32(source, offset + Float.BYTES);
        for (int run = 0; run < runs; run++) {
            long codes = offset + 2 * Float.BYTES + (long) run * HALF;
            int first = start + run * 2 * HALF;
            for (int i = 0; i < HALF; i++) {
                int pair = uint8(source, codes + i);
                target[first + i] = scale * ((pair & 0xF) - zero);
                target[first + HALF + i] = scale * ((pair >> 4) - zero);
            }
        }
    }

    private static float float32(MemorySegment source, long offset) {
        return Float.intBitsToFloat(int32(source, offset));
    }

    private static int fifth(int fifths, int element) {
        return ((fifths >>> element) & 1) << 4;
    }
}
