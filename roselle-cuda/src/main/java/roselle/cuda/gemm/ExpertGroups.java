package roselle.cuda.gemm;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepDemands;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.TileFormat;
import roselle.cuda.memory.Gpu;

/**
 * The choices of a step by expert, in tiles as the grouped products of {@code linear_mma.cuh} take them; made once for all products
 * of a routing.
 */
public final class ExpertGroups {
    public static final int TILE_BYTES = 16; // int4: kernels alone write and read it
    private static final int THREADS = 1024;
    private static final int FEW_SHARE = 4; // of the experts

    private final Gpu device;
    private final Launcher launcher;
    private final Kernel groupChoices;
    private long order;
    private long orderBytes;
    private long tiles;
    private long tileBytes;
    private @Nullable Routing grouped; // what the tiles are of; null where that may have changed
    private int groupedRows;
    private int tokens;
    private int count;

    ExpertGroups(Gpu device, Kernels kernels, Launcher launcher) {
        this.device = device;
        this.launcher = launcher;
        groupChoices = kernels.kernel(KernelSource.GENERIC_EXPERTS, "group_choices");
    }

    /** Bytes of device memory that steps need. */
    static long stepBytes(StepDemands demands) {
        long choices = (long) demands.limits().maxRows() * demands.chosen();
        return choices * Integer.BYTES + TILE_BYTES * mostTiles(choices, demands.experts());
    }

    /** Takes them. */
    void prepare(StepDemands demands) {
        long choices = (long) demands.limits().maxRows() * demands.chosen();
        reserve(choices, mostTiles(choices, demands.experts()));
    }

    /** Tiles at most, however many tokens a tile has. */
    private static long mostTiles(long choices, int experts) {
        return choices / MmaLinear.FEW_TOKENS + experts;
    }

    private void reserve(long choices, long tileCount) {
        if (choices * Integer.BYTES > orderBytes) {
            orderBytes = choices * Integer.BYTES;
            order = device.memory().allocate(orderBytes);
        }
        if (tileCount * TILE_BYTES > tileBytes) {
            tileBytes = tileCount * TILE_BYTES;
            tiles = device.memory().allocate(tileBytes);
        }
    }

    /** Routings may have changed. */
    void forget() {
        grouped = null;
    }

    /** Whether each choice of so many rows may as well be a tile of its own: few experts have several tokens, but for one that all have. */
    static boolean areFew(int rows, int chosen, int experts) {
        return (long) rows * (chosen - 1) <= experts / FEW_SHARE;
    }

    /** A router makes a tile of each choice, itself. */
    void each(Routing routing, int experts, int rows) {
        grouped = routing;
        groupedRows = rows;
        tokens = MmaLinear.FEW_TOKENS;
        count = Math.multiplyExact(rows, routing.chosen());
        reserve(count, Math.max(count, mostTiles(count, experts)));
    }

    /** Groups the choices of a routing for some rows, unless that was the last thing done. */
    void group(Routing routing, int experts, int rows) {
        if (routing.equals(grouped) && rows == groupedRows) {
            return;
        }
        grouped = routing;
        groupedRows = rows;
        int choices = Math.multiplyExact(rows, routing.chosen());
        tokens = tokens(choices, experts);
        count = Math.min(choices, choices / tokens + experts);
        reserve(choices, mostTiles(choices, experts));
        launcher.of(groupChoices)
                .pointer(routing.experts())
                .integer(choices)
                .integer(experts)
                .integer(tokens)
                .pointer(order)
                .pointer(tiles)
                .integer(count)
                .shared(2 * experts * Integer.BYTES)
                .launch(1, 1, 1, THREADS);
    }

    /** Tokens of a tile: what experts have on average, so that most of them need one. */
    private static int tokens(int choices, int experts) {
        int average = choices / experts;
        return average <= MmaLinear.FEW_TOKENS
                ? MmaLinear.FEW_TOKENS
                : average <= MmaLinear.SOME_TOKENS ? MmaLinear.SOME_TOKENS : TileFormat.MANY_TOKENS;
    }

    /** Tokens of a tile at most. */
    int tokens() {
        return tokens;
    }

    /** Tiles of a grid; the last ones may be empty. */
    int count() {
        return count;
    }

    /** The choices by expert. */
    long order() {
        return order;
    }

    long tiles() {
        return tiles;
    }
}
