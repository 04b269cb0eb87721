package roselle.tensor;

import static roselle.tensor.StoredNumbers.float16;
import static roselle.tensor.StoredNumbers.uint8;

import java.lang.foreign.MemorySegment;

/** Conversion of the types whose numbers are a scale times -1, 0 or 1: of whole bits, and five to a byte in base 3. */
final class TernaryBlocks {
    private TernaryBlocks() {}

    // 32 bytes of 5 numbers each | 16 bytes of 5 | 4 bytes of 4 | scale f16
    static void tq1_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset + 52);
        digits(source.asSlice(offset, 32), 5, scale, target, start);
        digits(source.asSlice(offset + 32, 16), 5, scale, target, start + 160);
        digits(source.asSlice(offset + 48, 4), 4, scale, target, start + 240);
    }

    /** The first digits of all bytes, then their second ones …; a byte is a fraction of 256, read from its first digit on. */
    private static void digits(MemorySegment bytes, int perByte, float scale, float[] target, int start) {
        int count = Math.toIntExact(bytes.byteSize());
        int power = 1;
        for (int digit = 0; digit < perByte; digit++) {
            for (int i = 0; i < count; i++) {
                int rest = (uint8(bytes, i) * power) & 0xFF;
                target[start + digit * count + i] = scale * (((rest * 3) >> 8) - 1);
            }
            power *= 3;
        }
    }

    // 64 bytes of 2-bit quants | scale f16
    static void tq2_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset + 64);
        for (int i = 0; i < 256; i++) {
            int four = uint8(source, offset + i / 128 * 32L + i % 32);
            target[start + i] = scale * ((four >> (i % 128 / 32 * 2) & 3) - 1);
        }
    }

    // scale f16 | 16 bytes of signs, a bit that is set for plus
    static void q1_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < 128; i++) {
            target[start + i] = (uint8(source, offset + 2 + i / 8) >> (i % 8) & 1) == 0 ? -scale : scale;
        }
    }

    // scale f16 | 16 bytes of 2-bit quants, four neighbours to a byte
    static void q2_0(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        for (int i = 0; i < 64; i++) {
            target[start + i] = scale * ((uint8(source, offset + 2 + i / 4) >> (i % 4 * 2) & 3) - 1);
        }
    }
}
