package roselle.cuda.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.tensor.DataType;

/**
 * A format of weights that tensor cores multiply tile by tile ({@code linear_mma.cuh}), which decode it on the way: all that
 * kernels of a format and their launches need follows from the blocks of its type.
 *
 * @param label what kernels are called by: {@code q4_0}
 * @param struct of {@code formats.cuh}, which decodes it
 * @param multiple that the columns of a matrix are of
 * @param stride bytes of a row of a chunk in shared memory
 * @param isPlain whether it is 16-bit numbers of the rows' own type
 */
public record TileFormat(String label, String struct, int multiple, int stride, boolean isPlain) {
    /** Rows of a tile where they are many. */
    public static final int MANY_TOKENS = 64;

    /** Outputs of a tile. */
    public static final int FEW_OUTPUTS = 16;

    public static final int MANY_OUTPUTS = 128;

    private static final int SLICES = 8;
    private static final int TOKEN_STAGES = 3;

    /** Types of blocks that {@code formats.cuh} decodes. */
    private static final List<DataType> TYPES = List.of(
            DataType.Q8_0,
            DataType.Q4_0,
            DataType.Q4_K,
            DataType.Q5_K,
            DataType.Q6_K,
            DataType.IQ4_XS,
            DataType.MXFP4,
            DataType.F8_E4M3_128,
            DataType.I8_128,
            DataType.I8_32,
            DataType.I4_128,
            DataType.I4_32);

    private static final TileFormat PLAIN = new TileFormat("plain", "FormatPlain", 32, 128, true);

    /** The format of weights of a type for rows of another; empty where no kernel multiplies them. */
    public static Optional<TileFormat> of(DataType weights, DataType rows) {
        if (rows == DataType.F32) {
            return Optional.empty();
        }
        if (weights == rows) {
            return Optional.of(PLAIN);
        }
        return TYPES.contains(weights) ? Optional.of(ofBlocks(weights)) : Optional.empty();
    }

    private static TileFormat ofBlocks(DataType type) {
        int multiple = Math.max(32, type.blockElements());
        return new TileFormat(type.label(), "Format" + type.name(), multiple, stride(type), false);
    }

    /** Bytes of a chunk and of what 16-byte copies bring beside it, up to an odd multiple of 32, which keeps banks apart. */
    private static int stride(DataType type) {
        int chunk = type.packing().bits() < Byte.SIZE ? 256 : 128;
        long beside = type.blockBytes() % 2 == 0 ? 14 : 15;
        return Math.toIntExact((type.rowBytes(chunk) + beside + 31) / 64 * 64 + 32);
    }

    /** All formats. */
    public static List<TileFormat> all() {
        var all = new ArrayList<TileFormat>();
        all.add(PLAIN);
        TYPES.forEach(type -> all.add(ofBlocks(type)));
        return all;
    }

    /** The kernels of one matrix. */
    public KernelSource linear() {
        return KernelSource.ofTiles(this, false);
    }

    /** The kernels of experts. */
    public KernelSource grouped() {
        return KernelSource.ofTiles(this, true);
    }

    /** Bytes of shared memory of a block that takes few rows. */
    public int fewBytes() {
        int stages = isPlain ? 4 : 3;
        return SLICES * FEW_OUTPUTS * stages * stride;
    }

    /** Bytes of shared memory of a block that takes many rows. */
    public int manyBytes() {
        int stages = isPlain ? 3 : 2;
        return MANY_OUTPUTS * stages * stride + TOKEN_STAGES * MANY_TOKENS * PackedTiles.ROW_BYTES;
    }
}
