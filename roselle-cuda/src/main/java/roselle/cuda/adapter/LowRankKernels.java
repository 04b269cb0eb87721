package roselle.cuda.adapter;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.GatedLinear;
import roselle.backend.step.StepInputs;
import roselle.cuda.gemm.Addition;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaAdapter;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.step.StepMemory;
import roselle.cuda.step.StepShape;
import roselle.tensor.DataType;

/**
 * Adds to each row what its adapter makes of its input, in two launches for any number of adapters: rows are shrunk, best before
 * the product, which fetches weights meanwhile; then expanded.
 *
 * <p>Launches depend on the weights that adapters are known to add to, not on the step's adapters, which kernels find by row.
 */
public final class LowRankKernels {
    private static final int THREADS = 128;
    private static final int NONE = -1;
    private static final int RANKS = 16; // of a block that shrinks
    private static final int MANY_ROWS =
            256; // from which on neighbours mostly have one adapter, and more of them share a block

    private final Gpu device;
    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final AdaptedWeights weights = new AdaptedWeights();
    private final AdapterMemory memory;
    private AdaptedWeights.Known known = weights.known(); // as the step began
    private @Nullable Loaded loaded;
    private long shrunk; // [slices, rows, ranks], float32, of one weight
    private long shrunkBytes;
    private boolean haveTheirOwn; // whether the step's rows mostly have an adapter of their own
    private int shrunkFor = NONE; // the number of that weight, while the step's rows are not expanded

    /** The kernels, which devices load once there are adapters. */
    private record Loaded(
            Kernel shrink,
            Kernel shrinkMany,
            Sizes expand,
            @Nullable Sizes gated) {
        static Loaded of(Kernels kernels, DataType type) {
            return new Loaded(
                    kernel(kernels, "low_rank_shrink_", type),
                    kernel(kernels, "low_rank_shrink_many_", type),
                    Sizes.of(kernels, "low_rank_expand_", type),
                    type == DataType.F32 ? null : Sizes.of(kernels, "low_rank_gated_", type));
        }
    }

    /** A kernel for each way to share what an adapter has among rows. */
    private record Sizes(Kernel each, Kernel few, Kernel many) {
        static Sizes of(Kernels kernels, String name, DataType type) {
            return new Sizes(
                    kernel(kernels, name + "each_", type),
                    kernel(kernels, name, type),
                    kernel(kernels, name + "many_", type));
        }

        Kernel of(Sharing sharing) {
            return switch (sharing) {
                case EACH -> each;
                case FEW -> few;
                case MANY -> many;
            };
        }
    }

    /** How many neighbouring rows read an adapter's matrices at once: bits do not depend on it. */
    private enum Sharing {
        EACH(4),
        FEW(8),
        MANY(32);

        private final int rows; // of a block that expands

        Sharing(int rows) {
            this.rows = rows;
        }
    }

    private static Kernel kernel(Kernels kernels, String name, DataType type) {
        return kernels.kernel(KernelSource.LOW_RANK, name + type.label());
    }

    public LowRankKernels(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
        memory = new AdapterMemory(device);
    }

    /** Packs an adapter, on any thread. */
    public CudaAdapter pack(List<LowRank> matrices) {
        return AdapterPacking.pack(matrices, type, weights);
    }

    /**
     * Has the device know the adapters of a step.
     *
     * @return what a recorded step depends on; 0 where it has no adapters
     */
    public int begin(StepInputs inputs, int maxRows) {
        if (!inputs.adapts) {
            return 0;
        }
        known = weights.known();
        haveTheirOwn = haveTheirOwn(inputs);
        shrunkFor = NONE;
        reserve((long) maxRows * Math.max(1, known.shrunk()) * Float.BYTES);
        memory.bring(inputs);
        return 2 * known.version() + (haveTheirOwn ? 1 : 0);
    }

    /** Whether fewer than every second row that has an adapter has that of the row before. */
    private static boolean haveTheirOwn(StepInputs inputs) {
        int rows = 0;
        int runs = 0;
        Adapter before = null;
        for (int s = 0; s < inputs.sequences; s++) {
            Adapter adapter = inputs.adapter[s];
            if (adapter != null) {
                rows += inputs.rowStart[s + 1] - inputs.rowStart[s];
                runs += adapter.equals(before) ? 0 : 1;
            }
            before = adapter;
        }
        return 2 * runs > rows;
    }

    /** Gives back the device's copies of adapters: steps that need them bring them again. */
    public void forget() {
        memory.forget();
    }

    private void reserve(long bytes) {
        if (loaded == null) {
            loaded = Loaded.of(kernels, type);
        }
        if (bytes > shrunkBytes) {
            if (shrunkBytes > 0) {
                device.synchronize();
                device.memory().giveBack(shrunk, shrunkBytes);
            }
            shrunk = device.memory().borrow(bytes);
            shrunkBytes = bytes;
        }
    }

    /** Shrinks rows with what each one's adapter has for a weight that is going to multiply them, if adapters have anything. */
    public void shrink(StepMemory step, StepShape shape, Rows input, Weight weight) {
        AdaptedWeights.Place place = known.place(weight);
        Loaded found = loaded;
        if (place == null || found == null) {
            return;
        }
        launcher.of(areMany(shape) ? found.shrinkMany : found.shrink)
                .rows(input)
                .integer(input.columns())
                .pointer(step.adapters())
                .integer(place.index())
                .pointer(shrunk)
                .integer(place.ranks())
                .integer(shape.rows())
                .launch(shape.rows(), Launcher.cover(place.ranks(), RANKS), place.slices(), THREADS);
        shrunkFor = place.index();
    }

    /**
     * {@code output[r] += factor * expand (shrink input[r])} with what each row's adapter has for a weight; rows that were shrunk
     * for this weight last are not shrunk again.
     */
    public void add(StepMemory step, StepShape shape, Rows input, Weight weight, float factor, Rows output) {
        AdaptedWeights.Place place = known.place(weight);
        Loaded found = loaded;
        if (place == null || found == null) {
            return;
        }
        if (shrunkFor != place.index()) {
            shrink(step, shape, input, weight);
        }
        shrunkFor = NONE;
        launcher.of(found.expand.of(sharing(shape))).rows(output);
        addition(step, place)
                .parameters(launcher, factor)
                .integer(shape.rows())
                .launch(expandingBlocks(shape), place.tiles(), 1, THREADS);
    }

    /**
     * What a product of gates and ups is told that adds what the rows are shrunk to; null where none can, or where rows mostly have
     * adapters of their own, which kernels of adapters expand faster.
     */
    public @Nullable Addition addition(StepMemory step, Weight weight) {
        AdaptedWeights.Place place = known.place(weight);
        return place == null || !place.areTiles() || haveTheirOwn ? null : addition(step, place);
    }

    private Addition addition(StepMemory step, AdaptedWeights.Place place) {
        return new Addition(step.adapters(), place.index(), shrunk, place.ranks(), place.slices());
    }

    /** Whether adapters may have anything for a weight. */
    public boolean addTo(Weight weight) {
        return known.place(weight) != null;
    }

    /** Whether {@link #addAndGate} takes a product. */
    public boolean gates(GatedLinear product) {
        AdaptedWeights.Place place = known.place(product.gateAndUp());
        return place != null
                && place.areEights()
                && type != DataType.F32
                && product.both().columns() == 2 * product.gates().columns()
                && CudaBuffer.isWhole(product.gates())
                && CudaBuffer.isWhole(product.ups());
    }

    /** {@link #add} to what a product left that rows were shrunk for, and the gated activation of it, of all rows. */
    public void addAndGate(StepMemory step, StepShape shape, GatedLinear product) {
        AdaptedWeights.Place place = Objects.requireNonNull(known.place(product.gateAndUp()));
        Sizes gated = Objects.requireNonNull(Objects.requireNonNull(loaded).gated);
        shrunkFor = NONE;
        launcher.of(gated.of(sharing(shape))).rows(product.gates()).rows(product.ups());
        addition(step, place)
                .parameters(launcher, product.epilogue().scale())
                .integer(KernelNumbers.of(product.gate().activation()))
                .number(product.gate().limit())
                .number(product.gate().upLimit())
                .number(product.gate().upOffset())
                .rows(product.gates())
                .integer(product.gates().columns())
                .integer(shape.rows())
                .launch(
                        expandingBlocks(shape),
                        Launcher.cover(product.gates().columns(), AdapterPacking.TILE),
                        1,
                        THREADS);
    }

    private int expandingBlocks(StepShape shape) {
        return Launcher.cover(shape.rows(), sharing(shape).rows);
    }

    private Sharing sharing(StepShape shape) {
        return areMany(shape) ? Sharing.MANY : haveTheirOwn ? Sharing.EACH : Sharing.FEW;
    }

    private static boolean areMany(StepShape shape) {
        return shape.rows() >= MANY_ROWS;
    }
}
