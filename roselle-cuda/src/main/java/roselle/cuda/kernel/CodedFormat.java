package roselle.cuda.kernel;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import roselle.tensor.DataType;

/**
 * A format of weights whose codes lie in tiles in the order of Hopper's tensor cores ({@code codes.cuh}).
 *
 * @param type of the blocks that tiles are made of
 */
public record CodedFormat(DataType type) {
    /** Columns of a tile. */
    public static final int COLUMNS = 128;

    private static final List<DataType> TYPES = List.of(
            DataType.F8_E4M3_128,
            DataType.I8_128,
            DataType.I8_32,
            DataType.I4_128,
            DataType.I4_32,
            DataType.Q8_0,
            DataType.Q4_0,
            DataType.Q4_K,
            DataType.Q5_K,
            DataType.Q6_K);
    private static final int SMALL = 6144; // bytes

    /** The format of blocks of a type; empty where there are no tiles of them. */
    public static Optional<CodedFormat> of(DataType type) {
        return TYPES.contains(type) ? Optional.of(new CodedFormat(type)) : Optional.empty();
    }

    /** All formats. */
    public static List<CodedFormat> all() {
        return TYPES.stream().map(CodedFormat::new).toList();
    }

    public String label() {
        return type.label();
    }

    /** What decodes it in {@code codes.cuh}. */
    public String struct() {
        return "Codes" + type.name();
    }

    /** Bytes of a tile: its codes, and the factors of each row's groups. */
    public int tileBytes() {
        return PackedTiles.TILE * (COLUMNS * type.packing().bits() / Byte.SIZE + factorBytes());
    }

    /** Whether more tiles find room in a block's shared memory. */
    public boolean isSmall() {
        return tileBytes() <= SMALL;
    }

    /** Of a row of a tile. */
    private int factorBytes() {
        int groups = COLUMNS / Math.min(COLUMNS, type.blockElements());
        return switch (type) {
            case Q8_0, Q4_0 -> groups * Short.BYTES;
            case Q4_K, Q5_K ->
                4 * 2 + 2 * Short.BYTES; // scales and minimums of groups of 32, and what they are multiplied with
            case Q6_K -> 8 + Short.BYTES; // scales of groups of 16
            case I4_128, I4_32 -> groups * 2 * Float.BYTES;
            default -> groups * Float.BYTES;
        };
    }

    /** Its kernels. */
    public KernelSource source() {
        String name = "coded_" + label() + "_hopper";
        String text = "#include \"gemm/linear_coded.cuh\"\n\nCODED_BOTH_TYPES(" + struct() + ", " + label() + ")\n";
        return KernelSource.ofText(name.toUpperCase(Locale.ROOT), text);
    }
}
