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

    private static final List<DataType> TYPES =
            List.of(DataType.F8_E4M3_128, DataType.I8_128, DataType.I8_32, DataType.I4_128, DataType.I4_32);

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

    /** Bytes of a tile: its codes, and for each group of a row the scale, with the zero where there is one. */
    public int tileBytes() {
        int codes = PackedTiles.TILE * COLUMNS * type.packing().bits() / Byte.SIZE;
        int factors = type.packing().bits() < Byte.SIZE ? 2 : 1;
        return codes + PackedTiles.TILE * COLUMNS / type.blockElements() * factors * Float.BYTES;
    }

    /** Its kernels. */
    public KernelSource source() {
        String name = "coded_" + label() + "_hopper";
        String text = "#include \"gemm/linear_coded.cuh\"\n\nCODED_BOTH_TYPES(" + struct() + ", " + label() + ")\n";
        return KernelSource.ofText(name.toUpperCase(Locale.ROOT), text);
    }
}
