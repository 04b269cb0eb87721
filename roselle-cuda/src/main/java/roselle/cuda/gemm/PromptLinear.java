package roselle.cuda.gemm;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.memory.CudaBuffer;
import roselle.tensor.DataType;

/**
 * One kernel of {@code linear_prompt_hopper.cu}: products of many rows, with the bits of {@link HopperLinear}'s. Its blocks
 * stay and take one tile after the other.
 *
 * @param tokens rows of a tile
 * @param stages tiles of K on their way
 * @param resultColumns of a tile of the output that the copy engine takes at once
 * @param rate of a multiprocessor's products beside those of the other kernels, as measured on an H200
 */
public record PromptLinear(Kernel kernel, int tokens, int stages, int resultColumns, double rate) {
    static final int MIN_ROWS = 512;

    public static final int CLUSTER = 2;
    public static final int GROUPS = 2; // warpgroups that multiply, of 64 outputs each

    private static final int CLUSTER_OUTPUTS = CLUSTER * GROUPS * PackedTiles.TILE;
    private static final int THREADS = 384;
    private static final int UNSLICED_TOKENS =
            256; // of a tile whose sums leave no registers for those of another slice
    private static final int GATED_COLUMNS = 32;

    /** The kernels there are. */
    static PromptLinear[] all(Kernels kernels, DataType type) {
        return new PromptLinear[] {
            new PromptLinear(kernel(kernels, type, "128"), 128, 6, PackedTiles.TILE, 0.9),
            new PromptLinear(kernel(kernels, type, "192"), 192, 4, PackedTiles.TILE, 0.97),
            new PromptLinear(kernel(kernels, type, "256"), UNSLICED_TOKENS, 3, PackedTiles.TILE, 1)
        };
    }

    /** The kernel that gates what it multiplies, for so many rows of a tile. */
    static PromptLinear gated(Kernels kernels, DataType type, int tokens) {
        Kernel kernel = kernel(kernels, type, "gated_" + tokens);
        boolean isWide = tokens == 256;
        return new PromptLinear(kernel, tokens, isWide ? 4 : 6, GATED_COLUMNS, isWide ? 1 : 0.9);
    }

    private static Kernel kernel(Kernels kernels, DataType type, String kind) {
        return kernels.kernel(KernelSource.LINEAR_PROMPT_HOPPER, "linear_prompt_" + kind + "_" + type.label());
    }

    public static int stageBytes(int tokens) {
        return GROUPS * PackedTiles.TILE_BYTES + tokens * PackedTiles.ROW_BYTES;
    }

    /** Bytes of a tile of the output of one warpgroup. */
    public static int resultBytes(int tokens, int resultColumns) {
        return tokens * resultColumns * Short.BYTES;
    }

    private int sharedBytes() {
        return stages * (stageBytes(tokens) + PackedTiles.BARRIER_BYTES)
                + GROUPS * (resultBytes(tokens, resultColumns) + Long.BYTES)
                + PackedTiles.STAGE_ALIGNMENT;
    }

    /**
     * The one that takes the least time for so many rows; none where they are too few, or fit all processors at once, or the
     * copy engine cannot store them.
     */
    static @Nullable PromptLinear choose(PromptLinear[] all, CudaWeight weight, Rows output, int rows) {
        if (rows < MIN_ROWS || HopperLinear.fitsAtOnce(weight, rows) || !isStorable(output)) {
            return null;
        }
        boolean isSliced = HopperLinear.slices(weight.rows(), weight.columns()) > 1;
        PromptLinear best = null;
        for (PromptLinear each : all) {
            boolean fits = !isSliced || each.tokens != UNSLICED_TOKENS;
            if (fits && (best == null || each.time(weight.rows(), rows) < best.time(weight.rows(), rows))) {
                best = each;
            }
        }
        return best;
    }

    /** Whether the copy engine can store such rows. */
    static boolean isStorable(Rows output) {
        return output.buffer().type() != DataType.F32 && CudaBuffer.isAligned(output);
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
        launch(launcher, weight.rows(), input, output, rows);
    }

    /** With the last parameters, after the others were given. */
    void launch(Launcher launcher, int outputs, Rows input, Rows output, int rows) {
        launcher.matrix(input, rows, tokens / CLUSTER)
                .matrix(output, rows, tokens, resultColumns)
                .shared(sharedBytes())
                .cluster(CLUSTER)
                .launch(Math.min(HopperLinear.MULTIPROCESSORS, tiles(outputs, rows) * CLUSTER), 1, 1, THREADS);
    }
}
