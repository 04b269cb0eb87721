package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.step.StepDemands;
import roselle.cuda.driver.Matrix;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.HeadParameters;
import roselle.cuda.row.RowKernels;
import roselle.tensor.DataType;

/**
 * Products of FP8 numbers on a Hopper GPU: rows are quantized, with a scale for each 128 numbers, by a kernel before the product.
 *
 * <p>Kernels of {@code linear_fp8_hopper.cu} take few rows, those of {@code linear_prompt_fp8_hopper.cu} many. Which of them does
 * not change a bit.
 */
public final class Fp8Linear {
    /** Columns of a tile, each of whose rows has a scale. */
    static final int COLUMNS = 128;

    private static final int TILE = PackedTiles.TILE;
    private static final int MAX_BLOCKS_OF_SLICES = 200;
    private static final int MIN_TILES = 2; // of K in a slice
    static final int THREADS = 256;
    private static final int QUANTIZED_COLUMNS = THREADS * 8; // of a block
    private static final int CLUSTER = PromptLinear.CLUSTER;
    private static final int PROMPT_ROWS = 128; // of a block
    private static final int PROMPT_THREADS = 384;
    private static final int BOX_ROWS = 64; // of codes, that a block fetches at once

    /** A kernel for few rows: how many a block takes, and how many tiles of K are on their way. */
    public enum Kind {
        ROWS_8(8, 10),
        ROWS_16(16, 9),
        ROWS_32(32, 8),
        ROWS_64(64, 6);

        public final int tokens;
        public final int stages;

        Kind(int tokens, int stages) {
            this.tokens = tokens;
            this.stages = stages;
        }

        public int stageBytes() {
            return PackedTiles.TILE_BYTES + tokens * PackedTiles.ROW_BYTES;
        }

        public int inboxBytes() {
            return tokens <= 32 ? (tokens + PackedTiles.MAX_SLICES) * TILE * Float.BYTES : 0;
        }

        private int sharedBytes() {
            return stages * (stageBytes() + tokens * Float.BYTES + PackedTiles.BARRIER_BYTES)
                    + inboxBytes()
                    + PackedTiles.STAGE_ALIGNMENT;
        }
    }

    /** A kernel for many rows: how many tiles of K are on their way, and of how many columns its products are. */
    public enum ManyKind {
        WHOLE("", 5, 2),
        SLICED("sliced_", 5, 2),
        GATED("gated_", 6, 1);

        public final int stages;
        public final int halves; // of 64 columns, of what a block stores
        private final String label;

        ManyKind(String label, int stages, int halves) {
            this.label = label;
            this.stages = stages;
            this.halves = halves;
        }

        public static int stageBytes() {
            return 2 * PackedTiles.TILE_BYTES + PROMPT_ROWS * PackedTiles.ROW_BYTES;
        }

        public int resultBytes() {
            return halves * TILE * PackedTiles.ROW_BYTES;
        }

        private int sharedBytes() {
            return stages * (stageBytes() + PROMPT_ROWS * Float.BYTES + PackedTiles.BARRIER_BYTES)
                    + PromptLinear.GROUPS * (resultBytes() + Long.BYTES)
                    + PackedTiles.STAGE_ALIGNMENT;
        }
    }

    private final Gpu device;
    private final Map<Kind, Kernel> few = new EnumMap<>(Kind.class);
    private final Map<ManyKind, Kernel> many = new EnumMap<>(ManyKind.class);
    private final Kernel quantize;
    private final Kernel normQuantize;
    private final Kernel wideNormQuantize;
    private final Kernel pack;
    private final Kernel tableRows;
    private long codes; // [rows, columns], one byte each
    private long codeBytes;
    private long scales; // [columns / 128, rows], float32
    private long scaleBytes;

    /**
     * The kernels for rows of a type, which are loaded.
     *
     * @throws DeviceException if the device has no tensor cores for them, or rows are float32
     */
    public Fp8Linear(Gpu device, Kernels kernels, DataType type) {
        if (!device.isHopper() || type == DataType.F32) {
            throw new DeviceException("products in FP8 need a Hopper GPU, and " + device.name() + " is one of "
                    + device.architecture() + ": take --compute bf16");
        }
        this.device = device;
        for (Kind kind : Kind.values()) {
            few.put(
                    kind,
                    kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "linear_fp8_" + kind.tokens + "_" + type.label()));
        }
        for (ManyKind kind : ManyKind.values()) {
            String name = "linear_prompt_fp8_" + kind.label + type.label();
            many.put(kind, kernels.kernel(KernelSource.LINEAR_PROMPT_FP8_HOPPER, name));
        }
        quantize = kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "quantize_fp8_" + type.label());
        normQuantize = kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "norm_quantize_fp8_" + type.label());
        wideNormQuantize = kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "norm_quantize_fp8_wide_" + type.label());
        pack = kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "pack_fp8");
        tableRows = kernels.kernel(KernelSource.LINEAR_FP8_HOPPER, "fp8_rows_" + type.label());
    }

    /** Bytes of the tiles of a weight; there is room for one more row of them where their number is odd. */
    static long tileBytes(long rows, long columns) {
        return rowTiles(rows) * (columns / COLUMNS) * PackedTiles.TILE_BYTES;
    }

    /** Bytes of device memory that a weight takes, in pieces as {@link roselle.cuda.memory.DeviceMemory} gives them. */
    static long weightBytes(long rows, long columns) {
        return tileBytes(rows, columns) + rowTiles(rows) * (columns / COLUMNS + TILE) * Float.BYTES;
    }

    private static long rowTiles(long rows) {
        long tiles = (rows + TILE - 1) / TILE;
        return tiles + tiles % 2;
    }

    /** How many parts the columns are cut into: from the weight's shape alone, so that sums have one order for all rows. */
    static int slices(int outputs, int columns) {
        int rowTiles = Launcher.cover(outputs, TILE);
        int slices = 1;
        while (slices < PackedTiles.MAX_SLICES
                && slices * 2 * rowTiles <= MAX_BLOCKS_OF_SLICES
                && slices * 2 * MIN_TILES <= columns / COLUMNS) {
            slices *= 2;
        }
        return slices;
    }

    /** Bytes of device memory that steps need. */
    static long stepBytes(StepDemands demands) {
        long rows = demands.limits().maxRows();
        return codeBytes(rows, demands.columns()) + scaleBytes(rows, demands.columns());
    }

    /** Takes them. */
    void prepare(StepDemands demands) {
        reserve(demands.limits().maxRows(), demands.columns());
    }

    private static long codeBytes(long rows, long columns) {
        return rows * columns;
    }

    private static long scaleBytes(long rows, long columns) {
        return columns / COLUMNS * stride(rows) * Float.BYTES;
    }

    /** Scales of a tile of K: for as many rows as a block takes at most. */
    private static long stride(long rows) {
        return (rows + PROMPT_ROWS - 1) / PROMPT_ROWS * PROMPT_ROWS;
    }

    private void reserve(long rows, long columns) {
        if (codeBytes(rows, columns) > codeBytes) {
            codeBytes = codeBytes(rows, columns);
            codes = device.memory().allocate(codeBytes);
        }
        if (scaleBytes(rows, columns) > scaleBytes) {
            scaleBytes = scaleBytes(rows, columns);
            scales = device.memory().allocate(scaleBytes);
        }
    }

    /** Brings rows of blocks in device memory into tiles, the first of which is row {@code firstTile} of them. */
    void pack(Launcher launcher, long blocks, long rowBytes, long tiles, int firstTile, int rows, int columns) {
        launcher.of(pack)
                .pointer(blocks)
                .wide(rowBytes)
                .pointer(tiles)
                .integer(firstTile)
                .integer(rows)
                .integer(columns)
                .launch(columns / COLUMNS, Launcher.cover(rows, TILE), 1, THREADS);
    }

    /** What gives rows of a table. */
    Kernel tableRows() {
        return tableRows;
    }

    /** Multiplies rows, which it normalises before where there is a norm: only if {@link #fusesNorm} says that it can. */
    void multiply(
            Launcher launcher,
            Rows input,
            @Nullable Norm norm,
            Fp8Weight factors,
            CudaWeight weight,
            Epilogue epilogue,
            Rows output,
            int rows) {
        quantize(launcher, input, norm, rows);
        if (areFew(weight, rows) || !PromptLinear.isStorable(output)) {
            multiplyFew(launcher, input, factors, weight, epilogue, output, rows);
            return;
        }
        ManyKind kind = slices(weight.rows(), weight.columns()) == 1 ? ManyKind.WHOLE : ManyKind.SLICED;
        parameters(launcher.of(kernel(many, kind)), input, weight, epilogue, output, rows);
        coded(launcher, factors, weight, rows, BOX_ROWS).matrix(output, rows, TILE);
        multiplyMany(launcher, kind, weight, rows);
    }

    private void multiplyFew(
            Launcher launcher,
            Rows input,
            Fp8Weight factors,
            CudaWeight weight,
            Epilogue epilogue,
            Rows output,
            int rows) {
        Kind kind = choose(rows);
        int slices = slices(weight.rows(), weight.columns());
        int tiles = Launcher.cover(weight.rows(), TILE) * Launcher.cover(rows, kind.tokens);
        long blocks = (long) tiles * slices;
        int depth = weight.columns() / COLUMNS / slices;
        parameters(launcher.of(kernel(few, kind)), input, weight, epilogue, output, rows);
        coded(launcher, factors, weight, rows, kind.tokens)
                .shared(
                        kind == Kind.ROWS_8 // which it makes slower by two percent, as measured on an H200
                                ? kind.sharedBytes()
                                : PackedTiles.spread(kind.sharedBytes(), blocks, depth, kind.stages))
                .cluster(slices)
                .launch(blocks, 1, 1, 128 + Launcher.WARP);
    }

    /** Whether blocks of 64 rows and outputs are faster than those that stay, as measured on an H200 (docs/performance.md). */
    private static boolean areFew(CudaWeight weight, int rows) {
        int tiles = Launcher.cover(weight.rows(), TILE) * Launcher.cover(rows, TILE);
        return rows <= TILE || tiles * slices(weight.rows(), weight.columns()) <= 2 * HopperLinear.MULTIPROCESSORS;
    }

    /** The fastest kernel for few rows, as measured on an H200 (docs/performance.md). */
    private static Kind choose(int rows) {
        for (Kind kind : Kind.values()) {
            if (rows <= kind.tokens) {
                return kind;
            }
        }
        return Kind.ROWS_64;
    }

    boolean fusesGate(GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        return rows > Kind.ROWS_64.tokens
                && GatedPromptLinear.isGateable(product, slices(weight.rows(), weight.columns()));
    }

    /** Multiplies and gates rows, which it normalises before where there is a norm, likewise. */
    void gated(Launcher launcher, Rows input, @Nullable Norm norm, Fp8Weight factors, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        quantize(launcher, input, norm, rows);
        parameters(launcher.of(kernel(many, ManyKind.GATED)), input, weight, product.epilogue(), product.gates(), rows);
        coded(launcher, factors, weight, rows, BOX_ROWS)
                .matrix(product.gates(), rows, TILE)
                .number(product.gate().limit())
                .number(product.gate().upOffset());
        multiplyMany(launcher, ManyKind.GATED, weight, rows);
    }

    private static <K extends Enum<K>> Kernel kernel(Map<K, Kernel> kernels, K kind) {
        return Objects.requireNonNull(kernels.get(kind));
    }

    private static void multiplyMany(Launcher launcher, ManyKind kind, CudaWeight weight, int rows) {
        long tiles = (long) Launcher.cover(weight.rows(), 2 * CLUSTER * TILE) * Launcher.cover(rows, PROMPT_ROWS);
        launcher.shared(kind.sharedBytes())
                .cluster(CLUSTER)
                .launch(Math.min(HopperLinear.MULTIPROCESSORS, tiles * CLUSTER), 1, 1, PROMPT_THREADS);
    }

    /** Whether rows are normalised and quantized by one kernel. */
    static boolean fusesNorm(Rows input) {
        return RowKernels.isFastNorm(input);
    }

    private void quantize(Launcher launcher, Rows input, @Nullable Norm norm, int rows) {
        reserve(rows, input.columns());
        launcher.of(norm == null ? quantize : RowKernels.isWide(input) ? wideNormQuantize : normQuantize)
                .rows(input)
                .integer(input.columns())
                .pointer(codes)
                .pointer(scales)
                .integer(Math.toIntExact(stride(rows)));
        if (norm == null) {
            launcher.launch(rows, Launcher.cover(input.columns(), QUANTIZED_COLUMNS), 1, THREADS);
        } else {
            HeadParameters.norm(launcher, norm);
            launcher.launch(rows, 1, 1, RowKernels.fastNormThreads(input));
        }
    }

    /** Gives a kernel the rows' codes and all scales; codes go two at a time as the copy engine reads them, in boxes of some rows. */
    private Launcher coded(Launcher launcher, Fp8Weight factors, CudaWeight weight, int rows, int boxRows) {
        return launcher.pointer(scales)
                .integer(Math.toIntExact(stride(rows)))
                .pointer(factors.tileScales())
                .pointer(factors.outputScales())
                .matrix(new Matrix(codes, rows, weight.columns() / 2, weight.columns()), boxRows);
    }

    private static void parameters(
            Launcher launcher, Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        HopperLinear.parameters(launcher, weight, slices, input, epilogue, output, rows);
    }
}
