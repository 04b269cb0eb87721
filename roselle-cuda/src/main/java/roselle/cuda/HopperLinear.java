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
    private static final int MOST_SLICES = 8;
    private static final int[] FEW = {8, 16, 32, 64, 128};
    private static final int AT_128 = 4;
    private static final int AT_256 = 5;
    private static final int AT_SERIAL_128 = 6;
    private static final int AT_SERIAL_192 = 7;
    private static final int AT_SERIAL_64 = 8;
    private static final int SERIAL_64_ROWS = 256;
    private static final int LEAST_SERIAL_64_TILES = 100;
    private static final int MOST_SERIAL_64_TILES = 200;
    private static final int MULTIPROCESSORS = 132;
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
            of(kernels, type, "serial_64", 64, 1, 4, 6)
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
        int slices = 1;
        while (slices < MOST_SLICES && slices * 2 * rowTiles <= MOST_BLOCKS_OF_SLICES && slices * 4 <= tiles) {
            slices *= 2;
        }
        return slices;
    }

    /** The fastest one measured on an H200 (docs/performance.md). */
    static HopperLinear choose(HopperLinear[] all, CudaWeight weight, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        for (int i = 0; i < FEW.length; i++) {
            if (rows <= FEW[i]) {
                boolean halves = i == AT_128 && 2 * slices * Launcher.cover(weight.rows(), TILE) <= 2 * MULTIPROCESSORS;
                return all[halves ? i - 1 : i];
            }
        }
        int tiles = Launcher.cover(weight.rows(), TILE) * Launcher.cover(rows, TILE);
        boolean fillsOnce = tiles >= LEAST_SERIAL_64_TILES && tiles <= MOST_SERIAL_64_TILES;
        if (rows <= SERIAL_64_ROWS && slices > 1 && fillsOnce) {
            return all[AT_SERIAL_64];
        }
        if (Launcher.cover(weight.rows(), 2 * TILE) * slices * Launcher.cover(rows, 128) <= MULTIPROCESSORS) {
            return all[AT_128];
        }
        if (rows <= SERIAL_ROWS) {
            return all[AT_SERIAL_128];
        }
        return all[slices == 1 ? AT_256 : AT_SERIAL_192];
    }

    void launch(Launcher launcher, CudaWeight weight, Rows input, Epilogue epilogue, Rows output, int rows) {
        int slices = slices(weight.rows(), weight.columns());
        int inbox = tokens <= 32 ? (tokens + 8) * 256 * groups : 0;
        int tiles = Launcher.cover(weight.rows(), TILE * groups) * Launcher.cover(rows, tokens);
        launcher.of(kernel)
                .pointer(weight.packed())
                .rows(input)
                .pointer(epilogue.bias())
                .rows(output)
                .integer(rows)
                .integer(weight.rows())
                .integer(weight.columns())
                .integer(slices)
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(LinearKernels.flags(epilogue, output))
                .shared(stages * (groups * 8192 + tokens * 128 + 16) + inbox + 1024)
                .cluster(isSerial ? 1 : slices)
                .launch((long) tiles * (isSerial ? 1 : slices), 1, 1, 128 * groups + 32 * producers);
    }
}
