package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import roselle.backend.memory.Rows;
import roselle.backend.operation.GatedLinear;
import roselle.cuda.gemm.GatedDecodeLinear.Kind;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.tensor.DataType;

/** The kernels of {@code linear_adapted_hopper.cu}: {@link GatedDecodeLinear} with what adapters add to gates and ups. */
final class AdaptedLinear {
    private final Map<Kind, Kernel> kernels = new EnumMap<>(Kind.class);

    AdaptedLinear(Kernels all, DataType type) {
        for (Kind kind : Kind.values()) {
            String name = "linear_adapted_gated_" + kind.tokens + "_" + type.label();
            kernels.put(kind, all.kernel(KernelSource.LINEAR_ADAPTED_HOPPER, name));
        }
    }

    /** Of a product that {@link GatedDecodeLinear#fits}. */
    void launch(Launcher launcher, Rows input, GatedLinear product, int rows, Addition addition) {
        var weight = (CudaWeight) product.gateAndUp();
        Kind kind = GatedDecodeLinear.chosen(weight, rows);
        Kernel kernel = Objects.requireNonNull(kernels.get(kind));
        HopperLinear.parameters(launcher.of(kernel), weight, input, product.epilogue(), product.gates(), rows)
                .number(product.gate().limit())
                .number(product.gate().upOffset());
        addition.parameters(launcher, product.epilogue().scale())
                .shared(kind.sharedBytes())
                .launch(GatedDecodeLinear.blocks(weight), 1, 1, kind.threads());
    }
}
