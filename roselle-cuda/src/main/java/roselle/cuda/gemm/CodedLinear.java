package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.CodedFormat;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.tensor.DataType;

/** The kernels of {@code linear_coded.cuh} for weights of a format, and which of them takes how many rows. None changes a bit. */
public final class CodedLinear implements TileProducts {
    private static final int TILE = PackedTiles.TILE;
    private static final int MAX_BLOCKS_OF_SLICES = 528; // four of a multiprocessor
    private static final int MULTIPROCESSORS = HopperLinear.MULTIPROCESSORS;
    private static final double MOST_UNEVEN = 1.1; // of the blocks of a multiprocessor, the most to the average
    private static final int SOME_END = 3; // tiles of K that take as long as what follows a block's sums, of 64 rows
    private static final int MANY_END = 4;
    private static final double SOME_TIME = 1.5; // of a tile of K by two blocks of 64 rows, to that of a block of 128
    private static final int THREADS = 256;

    /** A kernel: how many rows and outputs a block takes, and what it needs for that. */
    public enum Kind {
        ROWS_8("8", 8, 1, 1, 5, 4),
        ROWS_16("16", 16, 1, 1, 5, 3),
        ROWS_32("32", 32, 2, 1, 5, 3),
        ROWS_64("64", 64, 2, 1, 4, 3),
        MANY("many", 128, 2, 4, 4, 4);

        public final int tokens; // rows of a block
        public final int groups; // times 64 outputs of a block
        public final int producers; // warps, of which one thread fetches
        private final String label;
        private final int stagesOfSmall; // tiles
        private final int stagesOfLarge;

        Kind(String label, int tokens, int groups, int producers, int stagesOfSmall, int stagesOfLarge) {
            this.label = label;
            this.tokens = tokens;
            this.groups = groups;
            this.producers = producers;
            this.stagesOfSmall = stagesOfSmall;
            this.stagesOfLarge = stagesOfLarge;
        }

        public int stages(CodedFormat format) {
            return format.isSmall() ? stagesOfSmall : stagesOfLarge;
        }

        public int stageBytes(CodedFormat format) {
            return groups * format.tileBytes() + 2 * tokens * PackedTiles.ROW_BYTES;
        }

        public int inboxBytes() {
            return tokens <= 32 ? (tokens + PackedTiles.MAX_SLICES) * TILE * Float.BYTES * groups : 0;
        }

        private int sharedBytes(CodedFormat format) {
            return stages(format) * (stageBytes(format) + PackedTiles.BARRIER_BYTES)
                    + inboxBytes()
                    + PackedTiles.STAGE_ALIGNMENT;
        }

        private int threads() {
            return 128 * groups + 32 * producers;
        }
    }

    private final CodedFormat format;
    private final Map<Kind, Kernel> kernels = new EnumMap<>(Kind.class);
    private final Kernel pack;
    private final Kernel tableRows;

    /** The kernels for rows of a type, which are loaded. */
    public CodedLinear(Kernels all, CodedFormat format, DataType rows) {
        this.format = format;
        KernelSource source = format.source();
        String suffix = "_" + format.label() + "_" + rows.label();
        for (Kind kind : Kind.values()) {
            kernels.put(kind, all.kernel(source, "coded_" + kind.label + suffix));
        }
        pack = all.kernel(source, "pack_codes_" + format.label());
        tableRows = all.kernel(source, "coded_rows" + suffix);
    }

    /** Bytes that a weight takes; there is room for one more row of tiles where their number is odd. */
    static long bytes(CodedFormat format, long rows, long columns) {
        long rowTiles = (rows + TILE - 1) / TILE;
        long columnTiles = (columns + CodedFormat.COLUMNS - 1) / CodedFormat.COLUMNS;
        return (rowTiles + rowTiles % 2) * columnTiles * format.tileBytes();
    }

    /** How many parts the columns are cut into: from the weight's shape alone, so that sums have one order for all rows. */
    static int slices(int outputs, int columns) {
        int rowTiles = Launcher.cover(outputs, TILE);
        int most = Math.min(PackedTiles.MAX_SLICES, Launcher.cover(columns, CodedFormat.COLUMNS) / 2);
        int slices = 1;
        while (slices * 2 <= most && slices * 2 * rowTiles <= MAX_BLOCKS_OF_SLICES) {
            slices *= 2;
        }
        int blocks = slices * rowTiles;
        double uneven = (double) Launcher.cover(blocks, MULTIPROCESSORS) * MULTIPROCESSORS / blocks;
        return slices * 2 <= most && blocks >= MULTIPROCESSORS && uneven > MOST_UNEVEN ? slices * 2 : slices;
    }

    /** The fastest kernel for so many rows, as measured on an H200 (docs/performance.md). */
    private static Kind choose(CudaWeight weight, int rows) {
        if (rows <= 32) {
            return rows <= 8 ? Kind.ROWS_8 : rows <= 16 ? Kind.ROWS_16 : Kind.ROWS_32;
        }
        int slices = slices(weight.rows(), weight.columns());
        int tiles = Launcher.cover(weight.columns(), CodedFormat.COLUMNS);
        int some = Launcher.cover(weight.rows(), 2 * TILE) * Launcher.cover(rows, TILE) * slices;
        int many = Launcher.cover(weight.rows(), 2 * TILE) * Launcher.cover(rows, 2 * TILE);
        double timeOfSome =
                Launcher.cover(some, 2 * MULTIPROCESSORS) * (Launcher.cover(tiles, slices) + SOME_END) * SOME_TIME;
        double timeOfMany = Launcher.cover(many, MULTIPROCESSORS) * (double) (tiles + MANY_END);
        return rows <= TILE || timeOfSome < timeOfMany ? Kind.ROWS_64 : Kind.MANY;
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
                .launch(Launcher.cover(columns, CodedFormat.COLUMNS), Launcher.cover(rows, TILE), 1, THREADS);
    }

    @Override
    public void embed(
            Launcher launcher, CudaWeight table, long index, float scale, boolean adds, Rows output, int rows) {
        launcher.of(tableRows)
                .pointer(table.packed())
                .integer(table.columns())
                .integer(table.rows())
                .pointer(index)
                .number(scale)
                .flag(adds)
                .rows(output)
                .launch(rows, Launcher.cover(table.columns(), THREADS), 1, THREADS);
    }

    @Override
    public void multiply(Launcher launcher, Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        Kind kind = choose(weight, rows);
        int slices = slices(weight.rows(), weight.columns());
        int tiles = Launcher.cover(weight.rows(), TILE * kind.groups) * Launcher.cover(rows, kind.tokens);
        int cluster = kind == Kind.MANY ? 1 : slices;
        Kernel kernel = Objects.requireNonNull(kernels.get(kind));
        HopperLinear.parameters(launcher.of(kernel), weight, slices, input, epilogue, output, rows)
                .matrix(input, rows, kind.tokens)
                .shared(kind.sharedBytes(format))
                .cluster(cluster)
                .launch((long) tiles * cluster, 1, 1, kind.threads());
    }
}
