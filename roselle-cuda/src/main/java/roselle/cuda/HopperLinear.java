package roselle.cuda;

import roselle.backend.Epilogue;
import roselle.backend.Rows;
import roselle.tensor.DataType;

/**
 * One kernel of {@code linear_hopper.cu}: how many rows a block takes, and what it needs for that. None changes a bit.
 *
 * @param tokens rows of a block
 * @param groups times 64 outputs of a block
 * @param isSerial whether a block walks all slices itself, else each slice has a block of its own
 */
record HopperLinear(Kernel kernel, int tokens, int groups, int producers, int stages, boolean isSerial) {
    private static final int TILE = 64;
    private static final int MOST_BLOCKS_OF_SLICES = 200;
    private static final int SHORT_COLUMNS =
            1024; // a product of so few is all latency: blocks that fit at once suffice
    private static final int MOST_BLOCKS_OF_SHORT_SLICES = 132;
    private static final int MOST_SLICES = 8;
    private static final int AT_8 = 0;
    private static final int AT_16 = 1;
    private static final int AT_32 = 2;
    private static final int AT_64 = 3;
    private static final int AT_128 = 4;
    private static final int AT_256 = 5;
    private static final int AT_SERIAL_128 = 6;
    private static final int AT_SERIAL_192 = 7;
    private static final int AT_SERIAL_64 = 8;
    private static final int AT_SERIAL_32 = 9;
    private static final int AT_WIDE_64 = 10;
    private static final int AT_DEEP_64 = 11;
    private static final int SERIAL_64_ROWS = 256;
    private static final int LEAST_SERIAL_64_TILES = 100;
    private static final int MOST_SERIAL_64_TILES = 200;
    private static final int MULTIPROCESSORS = 132;
    private static final int LEAST_WIDE_TILES = 400; // of outputs, of which two blocks have a multiprocessor
    private static final int LEAST_DEEP_TILES = 16; // of K in a slice, so that it pays to have many on their way
    private static final int SERIAL_ROWS = 1024;

    /** The kernels in the order in which {@link #choose} knows them. */
    static HopperLinear[] all(Kernels kernels, DataType type) {
        return new HopperLinear[] {
            of(kernels, type, "8", 8, 1, 1, 11),
            of(kernels, type, "16", 16, 1, 1, 10),
            of(kernels, type, "32", 32, 1, 2, 8),
            of(kernels, type, "64", 64, 1, 4, 6),
            of(kernels, type, "128", 128, 2, 4, 6),
            of(kernels, type, "256", 256, 2, 4, 4),
            of(kernels, type, "serial_128", 128, 2, 4, 6),
            of(kernels, type, "serial_192", 192, 2, 4, 5),
            of(kernels, type, "serial_64", 64, 1, 4, 6),
            of(kernels, type, "serial_32", 32, 1, 2, 4),
            of(kernels, type, "wide_64", 64, 2, 4, 4),
            of(kernels, type, "deep_64", 64, 1, 4, 12)
        };
    }

    private static HopperLinear of(
            Kernels kernels, DataType type, String kind, int tokens, int groups, int producers, int stages) {
        Kernel kernel = kernels.kernel(KernelSource.LINEAR_HOPPER, "linear_" + kind + "_" + type.label());
        return new HopperLinear(kernel, tokens, groups, producers, stages, kind.startsWith("serial"));
    }

    /** How many parts the columns are cut into: from the weight's shape alone, so that sums have one order for all rows. */
    static int slices(int outputs, int columns) {
        int rowTiles = Launcher.cover(outputs, TILE);
        int tiles = Launcher.cover(columns, TILE);
        int most = columns <= SHORT_COLUMNS ? MOST_BLOCKS_OF_SHORT_SLICES : MOST_BLOCKS_OF_SLICES;
        int slices = 1;
        while (slices < MOST_SLICES && slices * 2 * rowTiles <= most && slices * 4 <= tiles) {
            slices *= 2;
        }
        return slices;
    }

    /** The fastest one measured on an H200 (docs/performance.md). */
    static HopperLinear choose(HopperLinear[] all, CudaWeight weight, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        if (rows <= 128) {
            return all[few(slices, weight, rows)];
        }
        int tiles = Launcher.cover(weight.rows(), TILE) * Launcher.cover(rows, TILE);
        boolean fillsOnce = tiles >= LEAST_SERIAL_64_TILES && tiles <= MOST_SERIAL_64_TILES;
        if (rows <= SERIAL_64_ROWS && slices > 1 && fillsOnce) {
            return all[AT_SERIAL_64];
        }
        if (fitsAtOnce(weight, rows)) {
            return all[AT_128];
        }
        if (rows <= SERIAL_ROWS) {
            return all[AT_SERIAL_128];
        }
        return all[slices == 1 ? AT_256 : AT_SERIAL_192];
    }

    /** Whether all slices of all tiles of 128 outputs and 128 rows have a multiprocessor of their own. */
    static boolean fitsAtOnce(CudaWeight weight, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        return Launcher.cover(weight.rows(), 2 * TILE) * slices * Launcher.cover(rows, 128) <= MULTIPROCESSORS;
    }

    private static int few(int slices, CudaWeight weight, int rows) {
        boolean isShort = weight.columns() <= SHORT_COLUMNS;
        int rowTiles = Launcher.cover(weight.rows(), TILE);
        if (rows <= 16) {
            return rows <= 8 ? AT_8 : AT_16;
        }
        boolean isWide = slices == 1 && rowTiles >= LEAST_WIDE_TILES;
        if (rows <= 32) {
            return isShort && slices <= 4 ? AT_64 : AT_32;
        }
        if (isWide && (rows <= 64 || isShort)) {
            return AT_WIDE_64;
        }
        if (rows <= 64) {
            boolean isDeep = Launcher.cover(weight.columns(), TILE) >= LEAST_DEEP_TILES * slices;
            return isDeep && slices * rowTiles <= MULTIPROCESSORS ? AT_DEEP_64 : AT_64;
        }
        if (isShort && slices <= 2 && 4 * rowTiles <= 2 * MULTIPROCESSORS) {
            return AT_SERIAL_32;
        }
        return 2 * slices * rowTiles <= 2 * MULTIPROCESSORS ? AT_64 : AT_128;
    }

    void launch(Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        int inbox = tokens <= 32 ? (tokens + 8) * 256 * groups : 0;
        int tiles = Launcher.cover(weight.rows(), TILE * groups) * Launcher.cover(rows, tokens);
        parameters(launcher.of(kernel), weight, input, epilogue, output, rows);
        launcher.shared(stages * (groups * 8192 + tokens * 128 + 16) + inbox + 1024)
                .cluster(isSerial ? 1 : slices)
                .launch((long) tiles * (isSerial ? 1 : slices), 1, 1, 128 * groups + 32 * producers);
    }

    /** What all kernels of {@code linear_hopper.cu} are given first. */
    static Launcher parameters(
            Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        return launcher.pointer(weight.packed())
                .rows(input)
                .pointer(epilogue.bias())
                .rows(output)
                .integer(rows)
                .integer(weight.rows())
                .integer(weight.columns())
                .integer(slices(weight.rows(), weight.columns()))
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(LinearKernels.flags(epilogue, output));
    }
}
