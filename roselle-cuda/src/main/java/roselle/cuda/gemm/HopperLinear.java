package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.tensor.DataType;

/** The kernels of {@code linear_hopper.cu}, and which of them takes how many rows. None changes a bit. */
public final class HopperLinear {
    static final int MULTIPROCESSORS = 132;

    private static final int TILE = PackedTiles.TILE;
    private static final int MAX_BLOCKS_OF_SLICES = 200;
    private static final int MAX_BLOCKS_OF_SHORT_SLICES = 132;
    private static final int SHORT_COLUMNS = 1024; // of a product that is all latency: blocks that fit at once suffice
    private static final int SERIAL_64_ROWS = 256;
    private static final int MIN_SERIAL_64_TILES = 100;
    private static final int MAX_SERIAL_64_TILES = 200;
    private static final int MIN_WIDE_TILES = 400; // of outputs, of which two blocks have a multiprocessor
    private static final int MIN_DEEP_TILES = 16; // of K in a slice, so that it pays to have many on their way

    /** A kernel: how many rows and outputs a block takes, and what it needs for that. */
    public enum Kind {
        ROWS_8("8", 8, 1, 1, 11),
        ROWS_16("16", 16, 1, 1, 10),
        ROWS_32("32", 32, 1, 2, 8),
        ROWS_64("64", 64, 1, 4, 6),
        ROWS_128("128", 128, 2, 4, 6),
        WIDE_64("wide_64", 64, 2, 4, 4),
        DEEP_64("deep_64", 64, 1, 4, 12),
        SERIAL_32("serial_32", 32, 1, 2, 4),
        SERIAL_64("serial_64", 64, 1, 4, 6),
        SERIAL_128("serial_128", 128, 2, 4, 6);

        public final int tokens; // rows of a block
        public final int groups; // times 64 outputs of a block
        public final int producers; // warps that fetch rows
        public final int stages;
        private final String label;
        private final boolean isSerial; // whether a block walks all slices, else each slice has a block of its own

        Kind(String label, int tokens, int groups, int producers, int stages) {
            this.label = label;
            this.tokens = tokens;
            this.groups = groups;
            this.producers = producers;
            this.stages = stages;
            isSerial = label.startsWith("serial");
        }

        public int inboxBytes() {
            return tokens <= 32 ? (tokens + PackedTiles.MAX_SLICES) * TILE * Float.BYTES * groups : 0;
        }

        public int stageBytes() {
            return groups * PackedTiles.TILE_BYTES + tokens * PackedTiles.ROW_BYTES;
        }

        private int sharedBytes() {
            return stages * (stageBytes() + PackedTiles.BARRIER_BYTES) + inboxBytes() + PackedTiles.STAGE_ALIGNMENT;
        }

        private int threads() {
            return 128 * groups + 32 * producers;
        }
    }

    private final Map<Kind, Kernel> kernels = new EnumMap<>(Kind.class);

    HopperLinear(Kernels all, DataType type) {
        for (Kind kind : Kind.values()) {
            String name = "linear_" + kind.label + "_" + type.label();
            kernels.put(kind, all.kernel(KernelSource.LINEAR_HOPPER, name));
        }
    }

    /** How many parts the columns are cut into: from the weight's shape alone, so that sums have one order for all rows. */
    static int slices(int outputs, int columns) {
        int rowTiles = Launcher.cover(outputs, TILE);
        int tiles = Launcher.cover(columns, TILE);
        int most = columns <= SHORT_COLUMNS ? MAX_BLOCKS_OF_SHORT_SLICES : MAX_BLOCKS_OF_SLICES;
        int slices = 1;
        while (slices < PackedTiles.MAX_SLICES && slices * 2 * rowTiles <= most && slices * 4 <= tiles) {
            slices *= 2;
        }
        return slices;
    }

    /** Whether all slices of all tiles of 128 outputs and 128 rows have a multiprocessor of their own. */
    static boolean fitsAtOnce(CudaWeight weight, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        return Launcher.cover(weight.rows(), 2 * TILE) * slices * Launcher.cover(rows, 128) <= MULTIPROCESSORS;
    }

    /** The fastest kernel for fewer rows than {@link PromptLinear} takes, as measured on an H200 (docs/performance.md). */
    private static Kind choose(CudaWeight weight, int rows) {
        if (rows <= 16) {
            return rows <= 8 ? Kind.ROWS_8 : Kind.ROWS_16;
        }
        if (rows <= 64) {
            return some(weight, rows);
        }
        if (rows <= 128) {
            return more(weight);
        }
        int slices = slices(weight.rows(), weight.columns());
        int tiles = Launcher.cover(weight.rows(), TILE) * Launcher.cover(rows, TILE);
        boolean fillsOnce = tiles >= MIN_SERIAL_64_TILES && tiles <= MAX_SERIAL_64_TILES;
        if (rows <= SERIAL_64_ROWS && slices > 1 && fillsOnce) {
            return Kind.SERIAL_64;
        }
        return fitsAtOnce(weight, rows) ? Kind.ROWS_128 : Kind.SERIAL_128;
    }

    /** For 17 to 64 rows. */
    private static Kind some(CudaWeight weight, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        if (rows <= 32) {
            return isShort(weight) && slices <= 4 ? Kind.ROWS_64 : Kind.ROWS_32;
        }
        if (isWide(weight)) {
            return Kind.WIDE_64;
        }
        boolean isDeep = Launcher.cover(weight.columns(), TILE) >= MIN_DEEP_TILES * slices;
        return isDeep && slices * rowTiles(weight) <= MULTIPROCESSORS ? Kind.DEEP_64 : Kind.ROWS_64;
    }

    /** For 65 to 128 rows. */
    private static Kind more(CudaWeight weight) {
        int slices = slices(weight.rows(), weight.columns());
        if (isShort(weight) && isWide(weight)) {
            return Kind.WIDE_64;
        }
        if (isShort(weight) && slices <= 2 && 4 * rowTiles(weight) <= 2 * MULTIPROCESSORS) {
            return Kind.SERIAL_32;
        }
        return 2 * slices * rowTiles(weight) <= 2 * MULTIPROCESSORS ? Kind.ROWS_64 : Kind.ROWS_128;
    }

    private static boolean isShort(CudaWeight weight) {
        return weight.columns() <= SHORT_COLUMNS;
    }

    private static boolean isWide(CudaWeight weight) {
        return slices(weight.rows(), weight.columns()) == 1 && rowTiles(weight) >= MIN_WIDE_TILES;
    }

    private static int rowTiles(CudaWeight weight) {
        return Launcher.cover(weight.rows(), TILE);
    }

    void launch(Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        Kind kind = choose(weight, rows);
        int tiles = Launcher.cover(weight.rows(), TILE * kind.groups) * Launcher.cover(rows, kind.tokens);
        int cluster = kind.isSerial ? 1 : slices(weight.rows(), weight.columns());
        Kernel kernel = Objects.requireNonNull(kernels.get(kind));
        parameters(launcher.of(kernel), weight, input, epilogue, output, rows);
        long blocks = (long) tiles * cluster;
        int depth = Launcher.cover(weight.columns(), TILE) / cluster;
        int sharedBytes =
                kind.isSerial ? kind.sharedBytes() : PackedTiles.spread(kind.sharedBytes(), blocks, depth, kind.stages);
        launcher.shared(sharedBytes).cluster(cluster).launch(blocks, 1, 1, kind.threads());
    }

    /** What all kernels of {@code linear_hopper.cu} are given first. */
    static Launcher parameters(
            Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        return parameters(launcher, weight, slices(weight.rows(), weight.columns()), input, epilogue, output, rows);
    }

    /** The same where columns are cut into so many slices: what kernels with packed weights of any format are given first. */
    static Launcher parameters(
            Launcher launcher, CudaWeight weight, int slices, Rows input, Epilogue epilogue, Rows output, int rows) {
        return launcher.pointer(weight.packed())
                .rows(input)
                .pointer(epilogue.bias())
                .rows(output)
                .integer(rows)
                .integer(weight.rows())
                .integer(weight.columns())
                .integer(slices)
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(LinearKernels.flags(epilogue, output));
    }
}
