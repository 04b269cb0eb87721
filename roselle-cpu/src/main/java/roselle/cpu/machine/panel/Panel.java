package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Opcode;
import roselle.tensor.DataType;

/**
 * How weights lie in memory for machine code: 16 rows (outputs) together, so that a vector's lanes are outputs.
 *
 * <p>A panel has the codes of its numbers first, in the order of k, then the scales of its blocks, then their minima. Codes
 * come in pairs of k, because products of bfloat16 take two at a time: lane i of 32 bits has output i, its lower half the even
 * k. A number is {@code scale * value(code) - minimum}. Rows that are missing in the last panel are zeros.
 *
 * <p>Small integers are exact in bfloat16, so that a product with them and a block's scale in float32 is as good as the
 * format is.
 */
public enum Panel {
    /** A signed byte: per pair 16 bytes of the even k, then 16 of the odd one. A float16 scale per block of 32. */
    BYTE(32, 32, 512, 32, 0),
    /** Four bits: a word has those of four pairs, the first one lowest. A float16 scale per block of 32. */
    NIBBLE(32, 32, 256, 32, 0),
    /** The same; per 256 a float16 scale and a float16 minimum, and per 32 a byte that multiplies each. */
    NIBBLE_WITH_MINIMUM(256, 32, 2048, 160, 160),
    /** Six bits: three words have those of eight pairs. A float16 scale per 256, and a signed byte for it per 16. */
    SIX_BITS(256, 16, 3072, 288, 0),
    /** bfloat16, without scales. */
    BFLOAT16(32, 32, 1024, 0, 0),
    /** float16, without scales: one k after the other. */
    FLOAT16(32, 32, 1024, 0, 0),
    /** float32, without scales: one k after the other. */
    FLOAT32(32, 32, 2048, 0, 0);

    /** Outputs of a panel: the lanes of a vector. */
    public static final int OUTPUTS = 16;

    private static final int LINE = 64;

    public final int unit; // numbers of k that a panel has a multiple of
    public final int block; // numbers of k that share a scale
    public final int codeBytes; // of a unit
    public final int scaleBytes; // of a unit
    public final int minimumBytes; // of a unit

    Panel(int unit, int block, int codeBytes, int scaleBytes, int minimumBytes) {
        this.unit = unit;
        this.block = block;
        this.codeBytes = codeBytes;
        this.scaleBytes = scaleBytes;
        this.minimumBytes = minimumBytes;
    }

    /** Where a type's weights go; empty for types that machine code does not read. */
    public static Optional<Panel> of(DataType type, Compute compute) {
        if (compute == Compute.INT8) {
            boolean isRead = type == DataType.Q8_0 || type == DataType.Q4_0 || type == DataType.Q4_K;
            return isRead ? of(type, Compute.BF16) : Optional.empty();
        }
        return switch (type) {
            case Q8_0 -> Optional.of(BYTE);
            case Q4_0, IQ4_NL -> Optional.of(NIBBLE);
            case Q4_K -> Optional.of(NIBBLE_WITH_MINIMUM);
            case Q6_K -> Optional.of(SIX_BITS);
            case BF16 -> Optional.of(BFLOAT16);
            case F16 -> Optional.of(compute == Compute.F32 ? FLOAT16 : BFLOAT16);
            case F32 -> Optional.of(compute == Compute.F32 ? FLOAT32 : BFLOAT16);
            default -> Optional.empty();
        };
    }

    /** Units of a row. */
    public int units(int columns) {
        return (columns + unit - 1) / unit;
    }

    /** Numbers of k of a row, with the zeros that fill its last unit. */
    public int paddedColumns(int columns) {
        return units(columns) * unit;
    }

    /** Columns that any kind of panel has for so many, at most. */
    public static int mostPadded(int columns) {
        return NIBBLE_WITH_MINIMUM.paddedColumns(columns);
    }

    public long scalesAt(int columns) {
        return (long) units(columns) * codeBytes;
    }

    public long minimaAt(int columns) {
        return scalesAt(columns) + aligned((long) units(columns) * scaleBytes);
    }

    /** Bytes of a panel. */
    public long bytes(int columns) {
        return minimaAt(columns) + aligned((long) units(columns) * minimumBytes);
    }

    private static long aligned(long bytes) {
        return (bytes + LINE - 1) / LINE * LINE;
    }

    /** Panels of so many outputs. */
    public static int count(int outputs) {
        return (outputs + OUTPUTS - 1) / OUTPUTS;
    }

    /** Blocks of a unit: how many scales it has for each output. */
    public int blocks() {
        return unit / block;
    }

    /** Bytes that the codes of a block take. */
    public int blockBytes() {
        return codeBytes / blocks();
    }

    /** What widens a block's factor, which multiplies the scale of its unit: those of six bits have a sign. */
    public Opcode scaleFactor() {
        return this == SIX_BITS ? Opcode.VPMOVSXBD : Opcode.VPMOVZXBD;
    }

    public boolean hasScales() {
        return scaleBytes != 0;
    }

    public boolean hasMinima() {
        return minimumBytes != 0;
    }

    /** Whether a panel's scales and minima, if it has any, are numbers and not infinite. */
    public boolean hasFiniteScales(MemorySegment memory, long at, int columns) {
        int units = units(columns);
        return areFinite(memory, at + scalesAt(columns), units, scaleBytes)
                && areFinite(memory, at + minimaAt(columns), units, minimumBytes);
    }

    /** Looks at the float16 numbers, of all outputs, that each unit's factors begin with. */
    private static boolean areFinite(MemorySegment memory, long from, int units, int unitBytes) {
        long carries = 0;
        for (int unit = 0; unit < units && unitBytes != 0; unit++) {
            for (int i = 0; i < OUTPUTS * Short.BYTES; i += Long.BYTES) {
                long exponents = memory.get(JAVA_LONG, from + (long) unit * unitBytes + i) & 0x7C00_7C00_7C00_7C00L;
                carries |= exponents + 0x0400_0400_0400_0400L; // overflows where an exponent has all bits
            }
        }
        return (carries & 0x8000_8000_8000_8000L) == 0;
    }

    /** Whether activations in bytes lie in the order of its nibbles. */
    public boolean hasNibbles() {
        return this == NIBBLE || this == NIBBLE_WITH_MINIMUM;
    }

    /** Whether its codes are read as pairs of bfloat16 at some point. */
    public boolean isPaired() {
        return this != FLOAT16 && this != FLOAT32;
    }
}
