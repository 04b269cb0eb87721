package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;

/** Tables of numbers that codes stand for, and masks, as the code of products reads them. */
public final class Constants {
    public static final int TABLE_2 = 64;
    public static final int SIX_BITS_MASK = 128;
    public static final int UPPER_MASK = 192;
    /** Indices that turn the lanes by 8, 4, 2 and 1. */
    static final int ROTATIONS = 256;

    // for vectors of 256 bits: masks of each lane's lowest bits
    public static final int FOUR_BITS = 512;
    public static final int SIX_BITS = 544;
    public static final int UPPER_TWO_OF_SIX_BITS = 576;
    /** What each code of four bits is more than the smallest number, in bytes. */
    public static final int BYTES = 608;
    /** The smallest number, in float32. */
    public static final int SMALLEST = 640;

    /** Indices that lay the even numbers of 16 bits, in the lower half, and the odd ones, in the upper half, in turn. */
    static final int IN_TURN = 704;

    static final int SIZE = 768;

    /** The truth table of {@code a | b & c}. */
    public static final int FIRST_OR_SECOND_AND_THIRD = 0xF8;

    private static final int CODES = 64; // of the tables

    private Constants() {}

    /** The constants for a type. */
    public static MemorySegment of(Arena arena, DataType type) {
        MemorySegment constants = arena.allocate(SIZE, 64);
        for (int code = 0; code < CODES; code++) {
            short value = (short) (Float.floatToRawIntBits(value(type, code)) >> 16);
            constants.setAtIndex(JAVA_SHORT, code, value);
        }
        for (int i = 0; i < 32; i++) {
            constants.setAtIndex(JAVA_SHORT, SIX_BITS_MASK / 2 + i, (short) 0x30);
        }
        for (int i = 0; i < 16; i++) {
            constants.setAtIndex(JAVA_INT, UPPER_MASK / 4 + i, 0xFFFF0000);
        }
        for (int i = 0; i < 64; i++) {
            int by = 8 >> (i / 16);
            constants.setAtIndex(JAVA_INT, ROTATIONS / 4 + i, (i + by) % 16);
        }
        narrow(constants, type);
        for (int i = 0; i < 32; i++) {
            constants.setAtIndex(JAVA_SHORT, IN_TURN / 2 + i, (short) (i / 2 + i % 2 * 16));
        }
        return constants;
    }

    private static void narrow(MemorySegment constants, DataType type) {
        for (int i = 0; i < 8; i++) {
            constants.setAtIndex(JAVA_INT, FOUR_BITS / 4 + i, 15);
            constants.setAtIndex(JAVA_INT, SIX_BITS / 4 + i, 63);
            constants.setAtIndex(JAVA_INT, UPPER_TWO_OF_SIX_BITS / 4 + i, 0x30);
            constants.setAtIndex(JAVA_FLOAT, SMALLEST / 4 + i, value(type, 0));
        }
        for (int i = 0; i < 32; i++) {
            constants.set(JAVA_BYTE, BYTES + i, (byte) (value(type, i & 15) - value(type, 0)));
        }
    }

    /** What a code stands for; bits beyond a type's own do not matter. Zero for types that need no table. */
    public static float value(DataType type, int code) {
        CodeValues values = type.fields().map(fields -> fields.codes().values()).orElse(null);
        return values == null || values.count() > CODES ? 0 : values.of(code & (values.count() - 1));
    }
}
