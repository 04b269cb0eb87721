package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.GatedLinear;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.tensor.DataType;

/** The kernels of {@code linear_hopper.cu} that gate what they multiply, few rows, as {@link GatedPromptLinear} does many. */
public final class GatedDecodeLinear {
    /** A kernel: how many rows a block takes, and what it needs for that. */
    public enum Kind {
        ROWS_8(8, 1, 6),
        ROWS_16(16, 1, 6),
        ROWS_32(32, 2, 5),
        ROWS_64(64, 4, 4);

        public final int tokens; // rows of a block
        public final int producers; // warps that fetch rows
        public final int stages;

        Kind(int tokens, int producers, int stages) {
            this.tokens = tokens;
            this.producers = producers;
            this.stages = stages;
        }

        public int stageBytes() {
            return 2 * PackedTiles.TILE_BYTES + tokens * PackedTiles.ROW_BYTES;
        }

        int sharedBytes() {
            return stages * (stageBytes() + PackedTiles.BARRIER_BYTES) + PackedTiles.STAGE_ALIGNMENT;
        }

        int threads() {
            return 2 * 128 + producers * Launcher.WARP;
        }
    }

    private static final int MIN_BLOCKS_OF_FEW = 100; // fewer do not draw all that memory gives

    private final Map<Kind, Kernel> kernels = new EnumMap<>(Kind.class);

    GatedDecodeLinear(Kernels all, DataType type) {
        for (Kind kind : Kind.values()) {
            String name = "linear_gated_" + kind.tokens + "_" + type.label();
            kernels.put(kind, all.kernel(KernelSource.LINEAR_HOPPER, name));
        }
    }

    /** Whether they are for such a product. */
    static boolean fits(CudaWeight weight, GatedLinear product, int rows) {
        return choose(weight, rows) != null && GatedPromptLinear.isGateable(weight, product);
    }

    /** None where a product and gating apart are faster, as measured on an H200 (docs/data/performance). */
    private static @Nullable Kind choose(CudaWeight weight, int rows) {
        int blocks = blocks(weight);
        boolean fitsAtOnce = blocks <= HopperLinear.MULTIPROCESSORS;
        if (rows <= Kind.ROWS_16.tokens) {
            boolean isShort = weight.columns() <= NormedLinear.MAX_COLUMNS; // which rather take their norm along
            return isShort || !fitsAtOnce || blocks < MIN_BLOCKS_OF_FEW
                    ? null
                    : rows <= Kind.ROWS_8.tokens ? Kind.ROWS_8 : Kind.ROWS_16;
        }
        if (rows <= Kind.ROWS_32.tokens) {
            return fitsAtOnce ? Kind.ROWS_32 : null;
        }
        return rows <= Kind.ROWS_64.tokens ? Kind.ROWS_64 : null;
    }

    static int blocks(CudaWeight weight) {
        return Launcher.cover(weight.rows(), 2 * PackedTiles.TILE);
    }

    /** That of a product that {@link #fits}. */
    static Kind chosen(CudaWeight weight, int rows) {
        return Objects.requireNonNull(choose(weight, rows));
    }

    void launch(Launcher launcher, Rows input, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        Kind kind = chosen(weight, rows);
        Kernel kernel = Objects.requireNonNull(kernels.get(kind));
        HopperLinear.parameters(launcher.of(kernel), weight, input, product.epilogue(), product.gates(), rows)
                .number(product.gate().limit())
                .number(product.gate().upOffset())
                .shared(kind.sharedBytes())
                .launch(blocks(weight), 1, 1, kind.threads());
    }
}
