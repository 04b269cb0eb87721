package roselle.cuda.gemm;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Weight;
import roselle.tensor.DataType;

/**
 * A weight in device memory: packed for the tensor cores, or the checkpoint's blocks as they are.
 *
 * @param packed address of the tiles of {@code linear_hopper.cu}, or of {@code codes.cuh}; 0 where it is not packed
 * @param blocks address of the table of blocks of {@code generic_linear.cu}; 0 where it is packed
 * @param parts the same blocks as the host knows them
 * @param usesTensorCores whether {@link MmaLinear} multiplies with its blocks; those of several matrices then have no gaps
 * @param products what its tiles of codes are multiplied by; null where they hold numbers, or it is not packed
 * @param order address of int32 numbers, the column of a row that comes to each place of the weight's; 0 where all are in place
 */
public record CudaWeight(
        String name,
        int matrices,
        int rows,
        int columns,
        long packed,
        long blocks,
        List<Block> parts,
        boolean usesTensorCores,
        @Nullable TileProducts products,
        long order)
        implements Weight {
    /** Consecutive rows of one type. */
    record Block(long address, long rowBytes, int firstRow, int rows, DataType type) {}

    public CudaWeight {
        parts = List.copyOf(parts);
    }

    /** One without codes in tiles. */
    public CudaWeight(
            String name,
            int matrices,
            int rows,
            int columns,
            long packed,
            long blocks,
            List<Block> parts,
            boolean usesTensorCores) {
        this(name, matrices, rows, columns, packed, blocks, parts, usesTensorCores, null, 0);
    }

    /** The same whose columns have another order than the rows that it multiplies. */
    CudaWeight ordered(long places) {
        return new CudaWeight(name, matrices, rows, columns, packed, blocks, parts, usesTensorCores, products, places);
    }

    boolean isOrdered() {
        return order != 0;
    }

    /** Whether its tiles hold 16-bit numbers. */
    boolean isPacked() {
        return packed != 0 && products == null;
    }

    int blockCount() {
        return parts.size();
    }
}
