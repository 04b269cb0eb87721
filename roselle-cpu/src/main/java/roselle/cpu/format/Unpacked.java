package roselle.cpu.format;

import roselle.cpu.vector.Lanes;

/**
 * What one thread has unpacked of up to four weight rows: a signed byte per number, and a scale, where there is one a
 * minimum too, for each group of numbers that share them. It stays in the first cache.
 */
public final class Unpacked {
    static final int ROWS = 4;
    /** Numbers of a row at a time. */
    public static final int NUMBERS = 1024;
    /** Numbers that share a scale and a minimum; larger groups count as several. */
    static final int GROUP_NUMBERS = 16;
    /** Groups of a row at a time. */
    static final int GROUPS = NUMBERS / GROUP_NUMBERS;

    /** A vector of bytes may be longer than one of floats, so there are some more. */
    final byte[] quants = new byte[ROWS * NUMBERS + 8]; // [ROWS][NUMBERS]

    final float[] scales = new float[ROWS * GROUPS]; // [ROWS][GROUPS]
    final float[] minimums = new float[ROWS * GROUPS]; // [ROWS][GROUPS]

    /** The numbers of one block, of formats without vectors. */
    final float[] block = new float[256];

    /** The last numbers of a row of plain numbers, less than a vector of them. */
    final float[] rest = new float[Lanes.COUNT];
}
