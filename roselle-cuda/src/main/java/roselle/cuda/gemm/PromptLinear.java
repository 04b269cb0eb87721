package roselle.cuda.gemm;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.tensor.DataType;

/**
 * One kernel of {@code linear_prompt_hopper.cu}: products of many rows, with the bits of {@link HopperLinear}'s. Its blocks
 * stay and take one tile after the other.
 *
 * @param tokens rows of a tile
 * @param sharedBytes of a block
 * @param rate of a multiprocessor's products beside those of the other kernels, as measured on an H200
 */
public record PromptLinear(Kernel kernel, int tokens, int sharedBytes, double rate) {
    static final int MIN_ROWS = 512;

    public static final int CLUSTER = 2;
    public static final int GROUPS = 2; // warpgroups that multiply, of 64 outputs each
    public static final int CHUNK_BYTES = 8704; // of a warpgroup's sums

    private static final int CLUSTER_OUTPUTS = CLUSTER * GROUPS * PackedTiles.TILE;
    private static final int THREADS = 384;

    /** The kernels there are. */
    static PromptLinear[] all(Kernels kernels, DataType type) {
        return new PromptLinear[] {
            new PromptLinear(kernel(kernels, type, "128"), 128, shared(128, 6), 0.96),
            new PromptLinear(kernel(kernels, type, "192"), 192, shared(192, 5), 1)
        };
    }

    /** The kernel that gates what it multiplies, for so many rows of a tile. */
    static PromptLinear gated(Kernels kernels, DataType type, int tokens) {
        Kernel kernel = kernel(kernels, type, "gated_" + tokens);
        boolean isWide = tokens == 256;
        return new PromptLinear(kernel, tokens, shared(tokens, isWide ? 4 : 6), isWide ? 1 : 0.9);
    }

    private static Kernel kernel(Kernels kernels, DataType type, String kind) {
        return kernels.kernel(KernelSource.LINEAR_PROMPT_HOPPER, "linear_prompt_" + kind + "_" + type.label());
    }

    public static int stageBytes(int tokens) {
        return GROUPS * PackedTiles.TILE_BYTES + tokens * PackedTiles.ROW_BYTES;
    }

    private static int shared(int tokens, int stages) {
        return stages * (stageBytes(tokens) + PackedTiles.BARRIER_BYTES)
                + GROUPS * CHUNK_BYTES
                + PackedTiles.STAGE_ALIGNMENT;
    }

    /** The one that takes the least time for so many rows; none where they are too few, or fit all processors at once. */
    static @Nullable PromptLinear choose(PromptLinear[] all, CudaWeight weight, int rows) {
        if (rows < MIN_ROWS || HopperLinear.fitsAtOnce(weight, rows)) {
            return null;
        }
        PromptLinear best = null;
        for (PromptLinear each : all) {
            if (best == null || each.time(weight.rows(), rows) < best.time(weight.rows(), rows)) {
                best = each;
            }
        }
        return best;
    }

    /** In a unit that is the same for all kernels, from the tiles that a cluster takes one after the other. */
    double time(int outputs, int rows) {
        return Launcher.cover(tiles(outputs, rows), HopperLinear.MULTIPROCESSORS / CLUSTER) * tokens / rate;
    }

    private long tiles(int outputs, int rows) {
        return (long) Launcher.cover(outputs, CLUSTER_OUTPUTS) * Launcher.cover(rows, tokens);
    }

    void launch(Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        HopperLinear.parameters(launcher.of(kernel), weight, input, epilogue, output, rows);
        launch(launcher, weight.rows(), input, rows);
    }

    /** With the last parameter, after the others were given. */
    void launch(Launcher launcher, int outputs, Rows input, int rows) {
        launcher.matrix(input, rows, tokens / CLUSTER)
                .shared(sharedBytes)
                .cluster(CLUSTER)
                .launch(Math.min(HopperLinear.MULTIPROCESSORS, tiles(outputs, rows) * CLUSTER), 1, 1, THREADS);
    }
}
