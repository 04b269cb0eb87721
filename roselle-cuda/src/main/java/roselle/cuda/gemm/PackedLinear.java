package roselle.cuda.gemm;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.tensor.DataType;

/** GEMMs with packed weights on a Hopper GPU, each by the kernel that is the fastest for so many rows. None changes a bit. */
final class PackedLinear {
    private final Launcher launcher;
    private final HopperLinear few;
    private final PromptLinear[] many;
    private final NormedLinear normed;
    private final GatedPromptLinear gatedMany;
    private final GatedDecodeLinear gatedFew;

    PackedLinear(Kernels kernels, Launcher launcher, DataType type) {
        this.launcher = launcher;
        few = new HopperLinear(kernels, type);
        many = PromptLinear.all(kernels, type);
        normed = new NormedLinear(kernels, type);
        gatedMany = new GatedPromptLinear(kernels, type);
        gatedFew = new GatedDecodeLinear(kernels, type);
    }

    /** Multiplies rows that tensor cores can read. */
    void multiply(Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        PromptLinear prompt = PromptLinear.choose(many, weight, output, rows);
        if (prompt == null) {
            few.launch(launcher, weight, input, epilogue, output, rows);
        } else {
            prompt.launch(launcher, weight, input, epilogue, output, rows);
        }
    }

    /** Normalises and multiplies in one kernel if there is one for it; else it does nothing and says so. */
    boolean normed(Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        boolean fits = weight.isPacked() && NormedLinear.fits(input, rows);
        if (fits) {
            normed.launch(launcher, input, norm, weight, epilogue, output, rows);
        }
        return fits;
    }

    /** Whether there is a kernel that multiplies so many rows and gates the products at once. */
    boolean fusesGate(GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        return GatedDecodeLinear.fits(weight, product, rows) || gatedMany.fits(weight, product, rows);
    }

    void gated(Rows input, GatedLinear product, int rows) {
        if (GatedDecodeLinear.fits((CudaWeight) product.gateAndUp(), product, rows)) {
            gatedFew.launch(launcher, input, product, rows);
        } else {
            gatedMany.launch(launcher, input, product, rows);
        }
    }
}
