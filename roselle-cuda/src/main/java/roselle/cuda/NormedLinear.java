package roselle.cuda;

import roselle.backend.Epilogue;
import roselle.backend.Norm;
import roselle.backend.Rows;
import roselle.tensor.DataType;

/** The kernel of {@code linear_hopper.cu} that normalises few rows before it multiplies them, with the bits of both kernels. */
final class NormedLinear {
    private static final int TOKENS = 8;
    private static final int MOST_ROWS = 4; // of more a block takes longer to normalise them than a kernel beforehand
    private static final int MOST_COLUMNS = 1024;
    private static final int STAGES = 11;
    private static final int THREADS = 160;
    private static final int SHARED_BYTES = STAGES * 8208 + MOST_COLUMNS / 64 * TOKENS * 128 + 5120;

    private final Kernel kernel;

    NormedLinear(Kernels kernels, DataType type) {
        kernel = kernels.kernel(KernelSource.LINEAR_HOPPER, "linear_normed_8_" + type.label());
    }

    static boolean fits(Rows input, int rows) {
        return rows <= MOST_ROWS && input.columns() <= MOST_COLUMNS && CudaBuffer.isWhole(input);
    }

    void launch(Launcher launcher, Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        int slices = HopperLinear.slices(weight.rows(), weight.columns());
        HopperLinear.parameters(launcher.of(kernel), weight, input, epilogue, output, rows);
        HeadParameters.norm(launcher, norm);
        launcher.shared(SHARED_BYTES)
                .cluster(slices)
                .launch((long) Launcher.cover(weight.rows(), 64) * slices, 1, 1, THREADS);
    }
}
