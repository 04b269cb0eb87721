package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Opcode;
import roselle.tensor.BlockFactor;
import roselle.tensor.BlockFields;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.PackedNumbers;
import roselle.tensor.Packing;

/**
 * How weights lie in memory for machine code: 16 rows (outputs) together, so that a vector's lanes are outputs.
 *
 * <p>A panel has the codes of its numbers first, in the order of k, then the scales of its blocks, then their minima. Codes
 * come in pairs of k, because products of bfloat16 take two at a time: lane i of 32 bits has output i, its lower half the even
 * k. A number is {@code scale * value(code) - minimum}. Rows that are missing in the last panel are zeros.
 *
 * <p>Small integers are exact in bfloat16, so that a product with them and a block's scale in float32 is as good as the
 * format is.
 *
 * <p>Which panel a quantized type has follows from where the fields of its blocks lie: the width of its codes, the numbers that
 * share a scale, and what scales and minima are made of.
 *
 * @param unit numbers of k that a panel has a multiple of
 * @param block numbers of k that share a scale
 */
public record Panel(Codes codes, int unit, int block, Factors scales, Factors minima) {
    /** How the codes of numbers lie. */
    public enum Codes {
        /** A signed byte: per pair 16 bytes of the even k, then 16 of the odd one. */
        BYTES(8),
        /** Four bits, places in a table: a word has those of four pairs, the first one lowest. */
        NIBBLES(4),
        /** The same of codes that are their numbers. */
        PLAIN_NIBBLES(4),
        /** Six bits: three words have those of eight pairs. */
        SIX_BITS(6),
        /** Pairs of numbers. */
        BFLOAT16(16),
        /** Of each 32 numbers their pairs as of bfloat16, then pairs of {@link BrainFloat#rest what is left of them}. */
        SPLIT(32),
        /** Numbers, one k after the other. */
        FLOAT16(16),
        /** The same. */
        FLOAT32(32);

        private final int bits; // of each

        Codes(int bits) {
            this.bits = bits;
        }
    }

    /** What a unit has for each of its blocks. */
    public enum Factors {
        NONE,
        /** A float16 number; unit and block are one. */
        WHOLE,
        /** A float16 number of the unit, then a signed byte of each block that multiplies it. */
        SIGNED,
        /** The same with unsigned bytes. */
        UNSIGNED;

        private int bytes(int blocks) {
            return switch (this) {
                case NONE -> 0;
                case WHOLE -> OUTPUTS * Short.BYTES;
                case SIGNED, UNSIGNED -> OUTPUTS * (Short.BYTES + blocks);
            };
        }
    }

    /** Outputs of a panel: the lanes of a vector. */
    public static final int OUTPUTS = 16;

    /** Pairs of bfloat16, without scales. */
    public static final Panel BFLOAT16 = plain(Codes.BFLOAT16);

    /** Numbers of float32 as two of bfloat16. */
    public static final Panel SPLIT = plain(Codes.SPLIT);

    /** float16 or float32, without scales. */
    public static final Panel FLOAT16 = plain(Codes.FLOAT16);

    public static final Panel FLOAT32 = plain(Codes.FLOAT32);

    private static final int LINE = 64;
    private static final int BLOCK = 32; // of minima, and of numbers without scales: activations have a sum for each
    private static final Map<DataType, Panel> OF_BLOCKS = ofBlocks();

    private static Panel plain(Codes codes) {
        return new Panel(codes, 32, 32, Factors.NONE, Factors.NONE);
    }

    private static Map<DataType, Panel> ofBlocks() {
        var panels = new EnumMap<DataType, Panel>(DataType.class);
        for (DataType type : DataType.values()) {
            type.fields().flatMap(fields -> of(type.packing(), fields)).ifPresent(panel -> panels.put(type, panel));
        }
        return panels;
    }

    /** What the fields of a type's blocks ask for; empty where no code reads it. */
    private static Optional<Panel> of(Packing packing, BlockFields fields) {
        Codes codes = codes(fields.codes().values());
        int multiple = codes == Codes.BYTES ? BLOCK : codes == Codes.SIX_BITS ? 16 : 8;
        Factors scales = factors(fields.scale());
        Factors minima = factors(fields.minimum());
        boolean isRead = codes != Codes.FLOAT32
                && scales != Factors.NONE
                && packing.group() % multiple == 0
                && (fields.minimum() == null
                        || (packing.group() == BLOCK && (minima == Factors.WHOLE || minima == Factors.UNSIGNED)));
        return isRead
                ? Optional.of(new Panel(codes, packing.elements(), packing.group(), scales, minima))
                : Optional.empty();
    }

    private static Codes codes(CodeValues values) {
        if (values.areSigned() && values.count() == 1 << Codes.BYTES.bits) {
            return Codes.BYTES;
        }
        if (!values.areBytes() || values.count() > 1 << Codes.SIX_BITS.bits) {
            return Codes.FLOAT32;
        }
        return values.count() > 1 << Codes.NIBBLES.bits
                ? Codes.SIX_BITS
                : values.arePlain() ? Codes.PLAIN_NIBBLES : Codes.NIBBLES;
    }

    private static Factors factors(@Nullable BlockFactor factor) {
        if (factor == null || factor.encoding() != BlockFactor.Encoding.F16) {
            return Factors.NONE;
        }
        PackedNumbers parts = factor.parts();
        return parts == null
                ? Factors.WHOLE
                : parts.values().of(0) < 0 || parts.values().areSigned() ? Factors.SIGNED : Factors.UNSIGNED;
    }

    /** Where a type's weights go; empty for types that machine code does not read. */
    public static Optional<Panel> of(DataType type, Compute compute) {
        return switch (type) {
            case BF16 -> compute == Compute.INT8 || compute == Compute.SPLIT ? Optional.empty() : Optional.of(BFLOAT16);
            case F16 -> compute == Compute.SPLIT ? Optional.empty() : plain(compute, FLOAT16);
            case F32 -> plain(compute, FLOAT32);
            default -> {
                Panel panel = OF_BLOCKS.get(type);
                yield panel == null
                                || compute == Compute.SPLIT
                                || (compute == Compute.INT8 && !isOfIntegers(type, panel))
                        ? Optional.empty()
                        : Optional.of(panel);
            }
        };
    }

    private static Optional<Panel> plain(Compute compute, Panel unrounded) {
        return switch (compute) {
            case F32 -> Optional.of(unrounded);
            case BF16 -> Optional.of(BFLOAT16);
            case SPLIT -> Optional.of(SPLIT);
            case INT8 -> Optional.empty();
        };
    }

    /** Whether products of integers read it: its codes, moved by 128, 8 or 0, are unsigned bytes. */
    private static boolean isOfIntegers(DataType type, Panel panel) {
        CodeValues values = type.fields().orElseThrow().codes().values();
        boolean isMovedByEight = panel.codes == Codes.NIBBLES && values.areLinear() && values.of(0) == -8;
        return panel.block == BLOCK
                && (panel.codes == Codes.BYTES || panel.codes == Codes.PLAIN_NIBBLES || isMovedByEight);
    }

    /** All kinds with scales, in the order of the types that they are for. */
    public static List<Panel> withScales() {
        return List.copyOf(new LinkedHashSet<>(OF_BLOCKS.values()));
    }

    /** The first type of each kind with scales. */
    public static List<DataType> typesWithScales() {
        var types = new ArrayList<DataType>();
        for (Panel panel : withScales()) {
            for (DataType type : OF_BLOCKS.keySet()) {
                if (panel.equals(OF_BLOCKS.get(type))) {
                    types.add(type);
                    break;
                }
            }
        }
        return types;
    }

    /** All kinds that products of a precision read, in the order of types. */
    public static List<Panel> all(Compute compute) {
        var all = new LinkedHashSet<Panel>();
        for (DataType type : DataType.values()) {
            of(type, compute).ifPresent(all::add);
        }
        return List.copyOf(all);
    }

    /** Bytes that the codes of a unit take. */
    public int codeBytes() {
        return unit * OUTPUTS * codes.bits / Byte.SIZE;
    }

    /** Bytes that the scales of a unit take. */
    public int scaleBytes() {
        return scales.bytes(blocks());
    }

    /** Bytes that the minima of a unit take. */
    public int minimumBytes() {
        return minima.bytes(blocks());
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
        int most = 0;
        for (Panel panel : all(Compute.F32)) {
            most = Math.max(most, panel.paddedColumns(columns));
        }
        return most;
    }

    public long scalesAt(int columns) {
        return (long) units(columns) * codeBytes();
    }

    public long minimaAt(int columns) {
        return scalesAt(columns) + aligned((long) units(columns) * scaleBytes());
    }

    /** Bytes of a panel. */
    public long bytes(int columns) {
        return minimaAt(columns) + aligned((long) units(columns) * minimumBytes());
    }

    /** Whether its outputs' numbers and factors are all that there is of it, if it has all outputs: no padding of columns or lines. */
    public boolean isWrittenWhole(int columns) {
        long units = units(columns);
        return paddedColumns(columns) == columns
                && units * scaleBytes() % LINE == 0
                && units * minimumBytes() % LINE == 0;
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
        return codeBytes() / blocks();
    }

    /** What widens a block's factor, which multiplies the scale of its unit: it may have a sign. */
    public Opcode scaleFactor() {
        return scales == Factors.SIGNED ? Opcode.VPMOVSXBD : Opcode.VPMOVZXBD;
    }

    public boolean hasScales() {
        return scales != Factors.NONE;
    }

    public boolean hasMinima() {
        return minima != Factors.NONE;
    }

    /** Whether a panel's scales and minima, if it has any, are numbers and not infinite. */
    public boolean hasFiniteScales(MemorySegment memory, long at, int columns) {
        int units = units(columns);
        return areFinite(memory, at + scalesAt(columns), units, scaleBytes())
                && areFinite(memory, at + minimaAt(columns), units, minimumBytes());
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
        return codes == Codes.NIBBLES || codes == Codes.PLAIN_NIBBLES;
    }

    /** Whether its codes are read as pairs of bfloat16 at some point. */
    public boolean isPaired() {
        return codes != Codes.FLOAT16 && codes != Codes.FLOAT32;
    }
}
