package roselle.cuda.gemm;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.row.HeadParameters;
import roselle.tensor.DataType;

/** The kernel of {@code linear_hopper.cu} that normalises few rows before it multiplies them, with the bits of both kernels. */
public final class NormedLinear {
    public static final int TOKENS = 8;
    public static final int MAX_COLUMNS = 1024;
    public static final int STAGES = 11;
    public static final int INBOX_BYTES = (TOKENS + PackedTiles.MAX_SLICES) * PackedTiles.TILE * Float.BYTES;

    private static final int MAX_ROWS = 4; // of more a block takes longer to normalise them than a kernel beforehand
    private static final int THREADS = 160;
    private static final int SHARED_BYTES = STAGES * (PackedTiles.TILE_BYTES + PackedTiles.BARRIER_BYTES)
            + MAX_COLUMNS / PackedTiles.TILE * TOKENS * PackedTiles.ROW_BYTES
            + INBOX_BYTES
            + PackedTiles.STAGE_ALIGNMENT;

    private final Kernel kernel;

    NormedLinear(Kernels kernels, DataType type) {
        kernel = kernels.kernel(KernelSource.LINEAR_HOPPER, "linear_normed_8_" + type.label());
    }

    static boolean fits(Rows input, int rows) {
        return rows <= MAX_ROWS && input.columns() <= MAX_COLUMNS && CudaBuffer.isWhole(input);
    }

    void launch(Launcher launcher, Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        int slices = HopperLinear.slices(weight.rows(), weight.columns());
        HopperLinear.parameters(launcher.of(kernel), weight, input, epilogue, output, rows);
        HeadParameters.norm(launcher, norm);
        launcher.shared(SHARED_BYTES)
                .cluster(slices)
                .launch((long) Launcher.cover(weight.rows(), PackedTiles.TILE) * slices, 1, 1, THREADS);
    }
}
