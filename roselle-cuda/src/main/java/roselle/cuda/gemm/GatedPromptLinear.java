package roselle.cuda.gemm;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.GatedLinear;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.tensor.DataType;

/**
 * The kernels of {@code linear_prompt_hopper.cu} that gate what they multiply: the products of many rows with gates and ups
 * come to memory as one number each, with the bits of a product and {@code gated} of {@code rows.cu}.
 */
final class GatedPromptLinear {
    private static final int MANY_OUTPUTS = 16_896; // that fill a device with one tile of rows
    private static final int MIN_ROWS_OF_MANY = 256;

    private final PromptLinear narrow;
    private final PromptLinear wide;

    GatedPromptLinear(Kernels kernels, DataType type) {
        narrow = PromptLinear.gated(kernels, type, 128);
        wide = PromptLinear.gated(kernels, type, 256);
    }

    /** Whether they are for such a product. */
    boolean fits(CudaWeight weight, GatedLinear product, int rows) {
        return rows >= (weight.rows() >= MANY_OUTPUTS ? MIN_ROWS_OF_MANY : PromptLinear.MIN_ROWS)
                && isGateable(weight, product);
    }

    /** Whether kernels can gate such a product, whose sums must not be cut into slices. */
    static boolean isGateable(CudaWeight weight, GatedLinear product) {
        return weight.isPacked() && isGateable(product, HopperLinear.slices(weight.rows(), weight.columns()));
    }

    /** The same of a weight that is packed, whose columns are cut into so many slices. */
    static boolean isGateable(GatedLinear product, int slices) {
        return product.gate().activation() == Activation.SILU
                && product.gates().columns() % PackedTiles.TILE == 0
                && PromptLinear.isStorable(product.gates())
                && !product.epilogue().accumulates()
                && product.epilogue().activation() == Activation.NONE
                && slices == 1;
    }

    void launch(Launcher launcher, Rows input, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        PromptLinear best = narrow.time(weight.rows(), rows) < wide.time(weight.rows(), rows) ? narrow : wide;
        HopperLinear.parameters(launcher.of(best.kernel()), weight, input, product.epilogue(), product.gates(), rows)
                .number(product.gate().limit())
                .number(product.gate().upOffset());
        best.launch(launcher, weight.rows(), input, product.gates(), rows);
    }
}
