package roselle.cuda.gemm;

import roselle.cuda.kernel.Launcher;

/**
 * What adapters add to the rows of a product, as kernels of products are told.
 *
 * @param adapters address of the adapter of each row
 * @param weight the number by which they know the product's weight
 * @param shrunk address of what the rows were shrunk to, float32 {@code [slices, rows, ranks]}
 * @param ranks numbers of a row there, in each slice
 * @param slices of the columns
 */
public record Addition(long adapters, int weight, long shrunk, int ranks, int slices) {
    /** The last parameters of a kernel that adds {@code factor} times as much. */
    public Launcher parameters(Launcher launcher, float factor) {
        return launcher.pointer(adapters)
                .integer(weight)
                .number(factor)
                .pointer(shrunk)
                .integer(ranks)
                .integer(slices);
    }
}
