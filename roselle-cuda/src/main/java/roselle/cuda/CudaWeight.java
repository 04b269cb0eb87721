package roselle.cuda;

import roselle.backend.Weight;

/**
 * A weight in device memory: packed for the tensor cores, or the checkpoint's blocks as they are.
 *
 * @param packed address of the tiles of {@code linear_hopper.cu}; 0 where it is not packed
 * @param blocks address of the table of blocks of {@code generic_linear.cu}; 0 where it is packed
 * @param blockCount entries of that table
 */
record CudaWeight(String name, int matrices, int rows, int columns, long packed, long blocks, int blockCount)
        implements Weight {
    boolean isPacked() {
        return packed != 0;
    }
}
