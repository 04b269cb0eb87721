package roselle.cpu.format;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;
import roselle.cpu.vector.Lanes;

/** Small integers in bytes, unpacked while they are packed: four to a lane of integers, whose bits are shifted together. */
final class Packed {
    /** As many bytes as a block of any format has together in one place, at most. */
    static final VectorSpecies<Byte> BYTES = Lanes.COUNT == 4 ? ByteVector.SPECIES_128 : ByteVector.SPECIES_256;

    /** Masks of the lowest bits of each byte. */
    static final int BIT = 0x01010101;

    static final int TWO_BITS = 0x03030303;
    static final int NIBBLE = 0x0f0f0f0f;

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Where four bits begin in a word of bits. */
    static final IntVector FOURS = IntVector.fromArray(IntVector.SPECIES_128, new int[] {0, 4, 8, 12}, 0);

    /** A product with it brings bit {@code i} of four to byte {@code i}, among others. */
    static final int SPREAD = 0x00204081;

    private Packed() {}

    /** Writes the four bytes of a word, less {@code bias} and times a factor. */
    static void scales(int bytes, int bias, float factor, float[] target, int at) {
        target[at] = factor * ((bytes & 0xff) - bias);
        target[at + 1] = factor * (((bytes >>> 8) & 0xff) - bias);
        target[at + 2] = factor * (((bytes >>> 16) & 0xff) - bias);
        target[at + 3] = factor * ((bytes >>> 24) - bias);
    }

    /** Writes each of the four bytes of a word, times a factor, twice. */
    static void scalesOfTwo(int bytes, float factor, float[] target, int at) {
        for (int i = 0; i < 4; i++) {
            float scale = factor * ((bytes >>> (8 * i)) & 0xff);
            target[at + 2 * i] = scale;
            target[at + 2 * i + 1] = scale;
        }
    }

    static float float16(MemorySegment source, long at) {
        return Float.float16ToFloat(source.get(SHORT, at));
    }

    static int int16(MemorySegment source, long at) {
        return source.get(SHORT, at);
    }

    static int int32(MemorySegment source, long at) {
        return source.get(INT, at);
    }

    static int uint8(MemorySegment source, long at) {
        return source.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** A table of what the 16 quants of four bits stand for. */
    static ByteVector table(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return ByteVector.fromArray(ByteVector.SPECIES_128, bytes, 0);
    }
}
