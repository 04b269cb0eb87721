package roselle.cuda.gemm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepDemands;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.RowKernels;
import roselle.tensor.DataType;

/** GEMMs with weights, and rows of them: packed weights through Hopper's tensor cores, all others as they are stored. */
public final class LinearKernels {
    private static final int THREADS = 256;
    public static final int GENERIC_OUTPUTS = 8; // of a block
    public static final int GENERIC_ROWS = 8;
    private static final int MAX_ROWS = Launcher.MAX_BLOCKS * GENERIC_ROWS; // of a launch
    private static final int MAX_HELD_EXPERTS = 512; // of a router whose scores a warp holds
    public static final int ACCUMULATES = 1;
    public static final int STORES_FLOATS = 2;

    private final Gpu device;
    private final Launcher launcher;
    private final RowKernels rowKernels;
    private final Kernel linear;
    private final Kernel headLinear;
    private final Kernel groupedLinear;
    private final Kernel tableRows;
    private final Kernel routeExperts;
    private final Kernel routeHeld;
    private final Kernel fastEmbed;
    private final @Nullable PackedLinear packed; // null where no weight is packed
    private final MmaLinear mma;
    private final @Nullable Fp8Linear fp8; // null where products are not in FP8
    private final ExpertGroups groups;
    private final DataType type;
    private final Kernels kernels;
    private @Nullable ChosenExperts chosenExperts; // as soon as there are experts
    private @Nullable AdaptedLinear adapted; // as soon as a product adds what adapters have
    private long copiedRows; // of steps: aligned, or in a weight's order
    private long copiedBytes;
    private long identity;
    private int identityRows;

    public LinearKernels(
            Gpu device,
            Kernels kernels,
            Launcher launcher,
            RowKernels rowKernels,
            MmaLinear mma,
            @Nullable Fp8Linear fp8,
            DataType type) {
        this.device = device;
        this.launcher = launcher;
        this.rowKernels = rowKernels;
        this.mma = mma;
        this.fp8 = fp8;
        this.type = type;
        this.kernels = kernels;
        groups = new ExpertGroups(device, kernels, launcher);
        String suffix = "_" + type.label();
        KernelSource generic = KernelSource.GENERIC_LINEAR;
        linear = kernels.kernel(generic, "linear" + suffix);
        headLinear = kernels.kernel(generic, "head_linear" + suffix);
        groupedLinear = kernels.kernel(generic, "grouped_linear" + suffix);
        tableRows = kernels.kernel(generic, "table_rows" + suffix);
        routeExperts = kernels.kernel(KernelSource.GENERIC_EXPERTS, "route_experts" + suffix);
        routeHeld = kernels.kernel(KernelSource.GENERIC_EXPERTS, "route_held" + suffix);
        boolean fast = device.isHopper() && type != DataType.F32;
        fastEmbed = fast ? kernels.kernel(KernelSource.ROWS, "embed" + suffix) : tableRows;
        packed = fast ? new PackedLinear(kernels, launcher, type) : null;
    }

    public void embed(CudaWeight table, long index, float scale, boolean adds, Rows output, int rows) {
        TileProducts tiles = table.products();
        if (tiles != null) {
            tiles.embed(launcher, table, index, scale, adds, output, rows);
            return;
        }
        if (table.isPacked() && !CudaBuffer.isWhole(output)) {
            Rows copy = aligned(output, rows);
            embed(table, index, scale, adds, copy, rows);
            rowKernels.gather(copy, identity, output, rows);
            return;
        }
        if (table.isPacked()) {
            for (int first = 0; first < rows; first += Launcher.MAX_BLOCKS) {
                int count = Math.min(Launcher.MAX_BLOCKS, rows - first);
                launcher.of(fastEmbed)
                        .pointer(table.packed())
                        .integer(table.rows())
                        .pointer(index + (long) first * Integer.BYTES)
                        .number(scale)
                        .flag(adds)
                        .rows(output.from(first))
                        .integer(table.columns())
                        .launch(
                                Launcher.cover(table.columns(), RowKernels.FAST_COLUMNS),
                                count,
                                1,
                                RowKernels.FAST_THREADS);
            }
            return;
        }
        launcher.of(tableRows)
                .pointer(table.blocks())
                .integer(table.blockCount())
                .integer(table.columns())
                .integer(table.rows())
                .pointer(index)
                .number(scale)
                .flag(adds)
                .rows(output)
                .launch(rows, Launcher.cover(table.columns(), THREADS), 1, THREADS);
    }

    public void linear(Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        for (int first = 0; first < rows; first += MAX_ROWS) {
            multiply(input.from(first), weight, epilogue, output.from(first), Math.min(MAX_ROWS, rows - first));
        }
    }

    /** Normalises and multiplies in one kernel if there is one for it; else it does nothing and says so. */
    public boolean normedLinear(Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        if (weight.isOrdered()) {
            return false;
        }
        TileProducts tiles = weight.products();
        if (tiles != null) {
            return rows <= MAX_ROWS && tiles.normed(launcher, input, norm, weight, epilogue, output, rows);
        }
        return packed != null && packed.normed(input, norm, weight, epilogue, output, rows);
    }

    /** Whether there is a kernel that multiplies so many rows and gates the products at once. */
    public boolean fusesGate(Rows input, GatedLinear product, int rows) {
        if (rows > MAX_ROWS || !CudaBuffer.isAligned(input) || product.gate().hasTwoBounds()) {
            return false;
        }
        TileProducts tiles = ((CudaWeight) product.gateAndUp()).products();
        return tiles != null ? tiles.fusesGate(product, rows) : packed != null && packed.fusesGate(product, rows);
    }

    public void gatedLinear(Rows input, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        TileProducts tiles = weight.products();
        if (tiles != null) {
            tiles.gated(launcher, readable(input, weight, rows), product, rows);
        } else if (packed != null) {
            packed.gated(input, product, rows);
        }
    }

    /** The same of rows that are normalised before, if there are kernels for it; else it does nothing and says so. */
    public boolean normedGatedLinear(Rows input, Norm norm, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        TileProducts tiles = weight.products();
        return tiles != null && !weight.isOrdered() && tiles.normedGated(launcher, input, norm, product, rows);
    }

    /** Whether there is a kernel that multiplies so many rows, adds what adapters have, and gates the sums at once. */
    public boolean fusesAdaptedGate(Rows input, GatedLinear product, int rows) {
        var weight = (CudaWeight) product.gateAndUp();
        return packed != null
                && weight.isPacked()
                && fusesGate(input, product, rows)
                && GatedDecodeLinear.fits(weight, product, rows);
    }

    public void adaptedGatedLinear(Rows input, GatedLinear product, int rows, Addition addition) {
        adapted().launch(launcher, input, product, rows, addition);
    }

    private AdaptedLinear adapted() {
        if (adapted == null) {
            adapted = new AdaptedLinear(kernels, type);
        }
        return adapted;
    }

    private void multiply(Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        if (packed != null && weight.isPacked()) {
            packed.multiply(readable(input, rows), weight, epilogue, output, rows);
            return;
        }
        TileProducts tiles = weight.products();
        if (tiles != null) {
            tiles.multiply(launcher, readable(input, weight, rows), weight, epilogue, output, rows);
            return;
        }
        if (weight.usesTensorCores()) {
            mma.multiply(readable(input, weight, rows), weight, epilogue, output, rows);
            return;
        }
        Rows numbers = weight.isOrdered() ? ordered(input, weight, rows) : input;
        launcher.of(linear)
                .rows(numbers)
                .pointer(weight.blocks())
                .integer(weight.blockCount())
                .integer(weight.columns())
                .integer(weight.rows());
        epilogue(epilogue, output)
                .rows(output)
                .integer(rows)
                .launch(Launcher.cover(weight.rows(), GENERIC_OUTPUTS), Launcher.cover(rows, GENERIC_ROWS), 1, THREADS);
    }

    private Launcher epilogue(Epilogue epilogue, Rows output) {
        return launcher.pointer(epilogue.bias())
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(flags(epilogue, output));
    }

    static int flags(Epilogue epilogue, Rows output) {
        boolean storesFloats = output.buffer().type() == DataType.F32;
        return (epilogue.accumulates() ? ACCUMULATES : 0) | (storesFloats ? STORES_FLOATS : 0);
    }

    /** Rows as the tensor cores can read them: themselves, or a copy of views of odd places. */
    private Rows readable(Rows input, int rows) {
        return CudaBuffer.isAligned(input) ? input : aligned(input, rows);
    }

    /** Rows as the tensor cores can read them, in the order of a weight's columns. */
    private Rows readable(Rows input, CudaWeight weight, int rows) {
        return weight.isOrdered() ? ordered(input, weight, rows) : readable(input, rows);
    }

    private Rows ordered(Rows input, CudaWeight weight, int rows) {
        Rows copy = copies(input, rows);
        rowKernels.order(input, weight.order(), copy, rows);
        return copy;
    }

    private Rows aligned(Rows input, int rows) {
        Rows copy = copies(input, rows);
        reserveIdentity(rows);
        rowKernels.gather(input, identity, copy, rows);
        return copy;
    }

    /** A place for copies of rows, until the next one is asked for. */
    private Rows copies(Rows input, int rows) {
        reserveCopies(rows, input.columns());
        return Rows.of(new CudaBuffer(type, (long) rows * input.columns(), copiedRows), input.columns());
    }

    /**
     * Bytes of device memory that steps need.
     *
     * @param orderedColumns of the widest weight whose columns have another order than rows; 0 for none
     */
    public long stepBytes(StepDemands demands, int orderedColumns) {
        long rows = copiedRows(demands);
        int columns = Math.max(usesAligned(demands) ? demands.oddColumns() : 0, orderedColumns);
        long copies = rows * columns * type.blockBytes() + (usesAligned(demands) ? rows * Integer.BYTES : 0);
        return copies
                + (fp8 == null ? 0 : Fp8Linear.stepBytes(demands))
                + (usesGroups(demands) ? ExpertGroups.stepBytes(demands) : 0);
    }

    private boolean usesGroups(StepDemands demands) {
        return demands.experts() > 0 && type != DataType.F32;
    }

    /** Takes them. */
    public void prepare(StepDemands demands, int orderedColumns) {
        if (usesAligned(demands)) {
            reserveCopies(copiedRows(demands), demands.oddColumns());
            reserveIdentity(copiedRows(demands));
        }
        if (orderedColumns > 0) {
            reserveCopies(copiedRows(demands), orderedColumns);
        }
        if (fp8 != null) {
            fp8.prepare(demands);
        }
        if (usesGroups(demands)) {
            groups.prepare(demands);
            mma.reserveGrouped();
            if (packed != null) {
                chosenExperts();
            }
        }
    }

    private static int copiedRows(StepDemands demands) {
        return Math.multiplyExact(demands.limits().maxRows(), Math.max(1, demands.chosen()));
    }

    private boolean usesAligned(StepDemands demands) {
        return demands.oddColumns() > 0 && type != DataType.F32;
    }

    private void reserveCopies(int rows, int columns) {
        long bytes = (long) rows * columns * type.blockBytes();
        if (bytes > copiedBytes) {
            copiedRows = device.memory().allocate(bytes);
            copiedBytes = bytes;
        }
    }

    private void reserveIdentity(int rows) {
        if (rows > identityRows) {
            var indices = new int[rows];
            Arrays.setAll(indices, i -> i);
            identity = device.memory().allocate((long) rows * Integer.BYTES);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_INT, indices);
                device.driver().copyIn(identity, source, source.byteSize(), device.stream());
                device.synchronize();
            }
            launcher.barrier();
            identityRows = rows;
        }
    }

    public void heads(Rows input, CudaWeight weight, Rows output, int rows) {
        for (int first = 0; first < rows; first += MAX_ROWS) {
            multiplyHeads(input.from(first), weight, output.from(first), Math.min(MAX_ROWS, rows - first));
        }
    }

    private void multiplyHeads(Rows input, CudaWeight weight, Rows output, int rows) {
        int heads = weight.matrices();
        launcher.of(headLinear)
                .rows(input)
                .integer(input.columns() / heads)
                .pointer(weight.blocks())
                .integer(weight.blockCount())
                .integer(heads)
                .integer(weight.columns())
                .integer(weight.rows())
                .rows(output)
                .integer(output.columns() / heads)
                .integer(rows)
                .launch(
                        Launcher.cover((long) heads * weight.rows(), GENERIC_OUTPUTS),
                        Launcher.cover(rows, GENERIC_ROWS),
                        1,
                        THREADS);
    }

    /** What routings say may have changed. */
    public void forgetRoutings() {
        groups.forget();
    }

    /** Chooses the experts of rows; {@code tokens} is where their ids are, 0 where a router does not look at them. */
    public void route(Rows logits, Router router, long tokens, Routing routing, int rows) {
        groups.forget();
        if (isHeld(router)) {
            routeHeld(logits, router, routing, rows);
            return;
        }
        launcher.of(routeExperts)
                .rows(logits)
                .integer(KernelNumbers.of(router.scoring()))
                .integer(router.experts())
                .integer(router.chosen())
                .flag(router.normalizes())
                .integer(router.groups())
                .integer(router.chosenGroups())
                .pointer(router.correction())
                .number(router.scale())
                .pointer(router.expertScales())
                .number(router.nearness())
                .pointer(router.ofTokens())
                .pointer(tokens)
                .integer(shares(router))
                .number(sharedWeight(router))
                .pointer(routing.experts())
                .pointer(routing.weights())
                .shared(4 * (2 * router.experts() + router.chosen() + router.groups()))
                .launch(rows, 1, 1, 32);
    }

    /** Whether a lane of a warp can hold its share of the scores, and nothing but scores chooses. */
    private static boolean isHeld(Router router) {
        return router.chosenGroups() == router.groups()
                && router.experts() <= MAX_HELD_EXPERTS
                && router.choices() <= Launcher.WARP
                && router.ofTokens() == null
                && router.nearness() == 0f;
    }

    /** {@code Shares} of {@code generic_experts.cu}. */
    private static int shares(Router router) {
        return router.shared() == null ? 0 : router.shared().gated() ? 2 : 1;
    }

    private static float sharedWeight(Router router) {
        return router.shared() == null ? 0f : router.shared().weight();
    }

    private void routeHeld(Rows logits, Router router, Routing routing, int rows) {
        boolean groupsThem = type != DataType.F32 && ExpertGroups.areFew(rows, router.choices(), router.stacked());
        if (groupsThem) {
            groups.each(routing, router.stacked(), rows);
        }
        launcher.of(routeHeld)
                .rows(logits)
                .integer(KernelNumbers.of(router.scoring()))
                .integer(router.experts())
                .integer(router.chosen())
                .flag(router.normalizes())
                .pointer(router.correction())
                .number(router.scale())
                .pointer(router.expertScales())
                .integer(shares(router))
                .number(sharedWeight(router))
                .pointer(routing.experts())
                .pointer(routing.weights())
                .pointer(groupsThem ? groups.order() : 0)
                .pointer(groupsThem ? groups.tiles() : 0)
                .launch(rows, 1, 1, Launcher.WARP);
    }

    /** The experts of few rows in as few kernels, if there are kernels for them; else it does nothing and says so. */
    public boolean feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        if (packed == null) {
            return false;
        }
        ChosenExperts fused = chosenExperts();
        boolean fits = fused.fits(input, experts, routing, sum, rows);
        if (fits) {
            fused.feed(input, experts, routing, sum, rows);
        }
        return fits;
    }

    private ChosenExperts chosenExperts() {
        if (chosenExperts == null) {
            chosenExperts = new ChosenExperts(device, kernels, launcher, type);
        }
        return chosenExperts;
    }

    public void experts(Rows input, ExpertLinear product, Routing routing, Rows output, int rows) {
        var weight = (CudaWeight) product.experts();
        if (weight.usesTensorCores()) {
            int share = product.spread() ? 1 : routing.chosen();
            Rows readable = readable(input, rows * routing.chosen() / share);
            groups.group(routing, weight.matrices(), rows);
            mma.multiplyGrouped(readable, weight, product.epilogue(), output, groups, share);
            return;
        }
        launcher.of(groupedLinear)
                .rows(input)
                .integer(product.spread() ? 1 : routing.chosen())
                .pointer(routing.experts())
                .pointer(weight.blocks())
                .integer(weight.blockCount())
                .integer(weight.columns())
                .integer(weight.rows());
        epilogue(product.epilogue(), output)
                .rows(output)
                .launch((long) rows * routing.chosen(), Launcher.cover(weight.rows(), GENERIC_OUTPUTS), 1, THREADS);
    }
}
