package roselle.cpu.machine.gemm;

import roselle.cpu.machine.panel.Constants;

/** Where the arguments of a product are, in bytes from the address that its code is called with. */
final class Arguments {
    /** The address of the first panel; the code leaves that of the panel after its last. */
    static final int WEIGHTS = 0;

    /** The address of the first row of x. */
    static final int INPUT = 8;

    /** Bytes from a row of x to the next. */
    static final int STRIDE = 16;

    /** The address of the outputs, float32. */
    static final int OUTPUT = 24;

    /** Bytes from a row of outputs to the next. */
    static final int OUTPUT_STRIDE = 32;

    /** How many groups of panels. */
    static final int GROUPS = 40;

    /** Units of k. */
    static final int UNITS = 48;

    /** Bytes from the beginning of a panel to its scales. */
    static final int SCALES_AT = 56;

    /** Bytes from the beginning of a panel to its minima. */
    static final int MINIMA_AT = 64;

    /** Bytes from a panel to the next. */
    static final int PANEL_BYTES = 72;

    /** Bytes from the beginning of a row of x to the sums of its blocks. */
    static final int SUMS_AT = 80;

    /** The address of {@link Constants}. */
    static final int CONSTANTS = 88;

    /** Where sums are while a block's have their registers; lines. */
    static final int SUMS = 128;

    static final int SIZE = SUMS + 64 * GemmFrame.MAX_SUMS;

    private Arguments() {}
}
