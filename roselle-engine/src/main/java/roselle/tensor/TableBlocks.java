package roselle.tensor;

import static roselle.tensor.StoredNumbers.float16;
import static roselle.tensor.StoredNumbers.int16;
import static roselle.tensor.StoredNumbers.uint8;

import java.lang.foreign.MemorySegment;

/** Conversion of the 4-bit types whose quants are indices into a table of 16 values. */
final class TableBlocks {
    private static final int HALF = 16;

    /** Steps of IQ4_NL and IQ4_XS: finer near zero, as weights are. */
    private static final int[] NON_LINEAR = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

    static final CodeValues STEPS = CodeValues.table(NON_LINEAR);

    /** The values of E2M1 (OCP Microscaling Formats 1.0), doubled to be whole. */
    private static final int[] E2M1_DOUBLED = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

    private TableBlocks() {}

    // scale f16 | 16 bytes of quants
    static void iq4_nl(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        lookUp(NON_LINEAR, scale, source.asSlice(offset + 2, HALF), target, start);
    }

    // scale f16 | upper 2 bits of 8 scales | lower 4 bits of 8 scales | 128 bytes of quants
    static void iq4_xs(MemorySegment source, long offset, float[] target, int start) {
        float scale = float16(source, offset);
        int high = int16(source, offset + 2);
        for (int group = 0; group < 8; group++) {
            int low = uint8(source, offset + 4 + group / 2) >> (4 * (group % 2));
            int groupScale = ((low & 0xF) | (((high >> (2 * group)) & 3) << 4)) - 32;
            MemorySegment quants = source.asSlice(offset + 8 + (long) HALF * group, HALF);
            lookUp(NON_LINEAR, scale * groupScale, quants, target, start + 2 * HALF * group);
        }
    }

    // exponent E8M0 | 16 bytes of quants
    static void mxfp4(MemorySegment source, long offset, float[] target, int start) {
        float scale =
                BlockFactor.halfPower(uint8(source, offset)); // half of what E8M0 says, because the table is doubled
        lookUp(E2M1_DOUBLED, scale, source.asSlice(offset + 1, HALF), target, start);
    }

    // 4 scales E4M3, whose signs count for nothing | 4 times 8 bytes of quants
    static void nvfp4(MemorySegment source, long offset, float[] target, int start) {
        for (int group = 0; group < 4; group++) {
            float scale = Float8.unsignedE4m3(uint8(source, offset + group)) / 2; // because the table is doubled
            for (int i = 0; i < 8; i++) {
                int pair = uint8(source, offset + 4 + 8L * group + i);
                target[start + 16 * group + i] = scale * E2M1_DOUBLED[pair & 0xF];
                target[start + 16 * group + 8 + i] = scale * E2M1_DOUBLED[pair >> 4];
            }
        }
    }

    private static void lookUp(int[] table, float scale, MemorySegment quants, float[] target, int start) {
        for (int i = 0; i < HALF; i++) {
            int pair = uint8(quants, i);
            target[start + i] = scale * table[pair & 0xF];
            target[start + HALF + i] = scale * table[pair >> 4];
        }
    }
}
