package roselle.cuda.adapter;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.step.StepInputs;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaAdapter;
import roselle.cuda.memory.Gpu;
import roselle.cuda.step.StepMemory;
import roselle.cuda.step.StepShape;
import roselle.tensor.DataType;

/**
 * Adds to each row what its adapter makes of its input, in two launches for any number of adapters: rows are shrunk, then expanded.
 *
 * <p>Launches depend on the weights that adapters are known to add to, not on the step's adapters, which kernels find by row.
 */
public final class LowRankKernels {
    private static final int THREADS = 128;
    private static final int RANKS = 4; // of a block that shrinks
    private static final int MANY_ROWS = 8; // of a block, where rows are many

    private final Gpu device;
    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final AdaptedWeights weights = new AdaptedWeights();
    private final AdapterMemory memory;
    private AdaptedWeights.Known known = weights.known(); // as the step began
    private @Nullable Loaded loaded;
    private long shrunk; // [rows, known.ranks], float32
    private long shrunkBytes;

    /** The kernels, which devices load once there are adapters. */
    private record Loaded(Kernel shrink, Kernel shrinkMany, Kernel expand, Kernel expandMany) {
        static Loaded of(Kernels kernels, DataType type) {
            KernelSource source = KernelSource.LOW_RANK;
            return new Loaded(
                    kernels.kernel(source, "low_rank_shrink_" + type.label()),
                    kernels.kernel(source, "low_rank_shrink_many_" + type.label()),
                    kernels.kernel(source, "low_rank_expand_" + type.label()),
                    kernels.kernel(source, "low_rank_expand_many_" + type.label()));
        }
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
        memory.bring(inputs);
        reserve((long) maxRows * Math.max(1, known.ranks()) * Float.BYTES);
        return known.version();
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

    /** {@code output[r] += factor * expand (shrink input[r])} with what each row's adapter has for a weight. */
    public void add(StepMemory step, StepShape shape, Rows input, Weight weight, float factor, Rows output) {
        AdaptedWeights.Place place = known.place(weight);
        Loaded found = loaded;
        if (place == null || found == null) {
            return;
        }
        boolean areFew = shape.isFew();
        int blocks = areFew ? shape.rows() : Launcher.cover(shape.rows(), MANY_ROWS);
        launcher.of(areFew ? found.shrink : found.shrinkMany)
                .rows(input)
                .integer(input.columns())
                .pointer(step.adapters())
                .integer(place.index())
                .number(factor)
                .pointer(shrunk)
                .integer(known.ranks())
                .integer(shape.rows())
                .launch(blocks, Launcher.cover(place.ranks(), RANKS), 1, THREADS);
        launcher.of(areFew ? found.expand : found.expandMany)
                .rows(output)
                .pointer(step.adapters())
                .integer(place.index())
                .pointer(shrunk)
                .integer(known.ranks())
                .integer(shape.rows())
                .launch(blocks, place.tiles(), 1, THREADS);
    }
}
