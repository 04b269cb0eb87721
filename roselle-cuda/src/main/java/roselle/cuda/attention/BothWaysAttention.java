package roselle.cuda.attention;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.DistanceScores;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepDemands;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.HeadKernels;
import roselle.cuda.step.StepMemory;
import roselle.tensor.DataType;

/**
 * Attention in both directions on tensor cores ({@code attention_both.cu}): 16-bit rows, pages of the same type of 16 tokens, usual
 * head sizes. What does not fit is left to the generic kernel whatever the number of rows, since a row has the same bits among few and
 * many.
 */
final class BothWaysAttention {
    private static final int THREADS = 256;
    private static final int MAX_MEETING = 64; // of heads whose queries and keys meet distances

    private final Gpu device;
    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final Map<String, Sized> sizes = new TreeMap<>(); // by name, loaded when a model first asks for them

    /** The kernel of heads of one size. */
    private record Sized(int size, int halves, Kernel kernel) {
        int sharedBytes() {
            return HeadKernels.prefillSharedBytes(size, halves);
        }
    }

    BothWaysAttention(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
    }

    private boolean fits(HeadShape heads, KvGroup group, KvType cacheType, int pageTokens) {
        int size = heads.keySize();
        return type != DataType.F32
                && (size == 32 || (size <= HeadKernels.MAX_USUAL && HeadKernels.SIZES.contains(size)))
                && HeadKernels.fits(device, size)
                && size == heads.valueSize()
                && group.valueSize() != 0
                && group.storedAs(cacheType) == KvType.of(type)
                && pageTokens == AttentionTiling.PAGE
                && tileTokens(heads) > 0;
    }

    /** Tokens of a tile; 0 where too many heads share a key. */
    private int tileTokens(HeadShape heads) {
        int sharers = heads.queryHeads() / heads.keyHeads();
        return HeadKernels.TILE_ROWS / HeadKernels.halves(device, heads.keySize()) / sharers;
    }

    private @Nullable Sized kernel(AttentionCall call) {
        boolean fits = call.isAligned()
                && fits(
                        call.heads(),
                        call.group(),
                        call.cache().type(),
                        call.cache().pageTokens());
        int size = call.heads().keySize();
        boolean meets = call.layer().traits().met() != null;
        if (!fits || (meets && size > MAX_MEETING)) {
            return null;
        }
        String name = "attention_" + (meets ? "meet_" : "both_") + size + "_" + type.label();
        return sizes.computeIfAbsent(name, _ -> load(name, size));
    }

    private Sized load(String name, int size) {
        return new Sized(size, HeadKernels.halves(device, size), kernels.kernel(KernelSource.ATTENTION_BOTH, name));
    }

    private Set<Integer> tileTokens(StepDemands demands) {
        var all = new TreeSet<Integer>();
        for (StepDemands.Attention each : demands.attentions()) {
            boolean fits = each.bothWays()
                    && fits(
                            each.heads(),
                            each.group(),
                            demands.cacheType(),
                            demands.limits().pageTokens());
            if (fits) {
                all.add(tileTokens(each.heads()));
            }
        }
        return all;
    }

    /** Bytes of device memory that steps need. */
    long stepBytes(StepDemands demands) {
        return tileTokens(demands).size() * StepMemory.tileBytes(demands.limits());
    }

    /** Takes them. */
    void prepare(StepDemands demands, StepMemory step) {
        tileTokens(demands).forEach(step::reserveTiles);
    }

    /**
     * Launches attention if there is a kernel for it; else it does nothing and says so. Few rows have a block each, so that what is
     * recorded fits other sequences, too.
     */
    boolean attend(AttentionCall call) {
        Sized kernel = kernel(call);
        if (kernel == null) {
            return false;
        }
        StepMemory step = call.step();
        int tokens = tileTokens(call.heads());
        boolean isFew = call.shape().isFew();
        int blocks = isFew ? call.shape().rows() : step.sendTiles(tokens, launcher);
        Launcher launch = FastAttention.parameters(launcher.of(kernel.kernel), call)
                .pointer(isFew ? 0 : step.tiles(tokens))
                .pointer(step.rowStart())
                .pointer(step.rowSequence());
        DistanceScores met = call.layer().traits().met();
        if (met == null) {
            DistanceBias distances = call.layer().traits().distances();
            launch.pointer(distances == null ? null : distances.table())
                    .integer(distances == null ? 0 : distances.span());
        } else {
            meeting(launch, met, call.heads().queryHeads());
        }
        launch.shared(kernel.sharedBytes()).launch(blocks, call.heads().keyHeads(), 1, THREADS);
        return true;
    }

    /** The parameters of what queries and keys say of distances. */
    static void meeting(Launcher launcher, DistanceScores met, int heads) {
        launcher.rows(met.ofQueries())
                .rows(met.ofKeys())
                .integer(met.ofQueries().columns() / heads)
                .pointer(met.kinds())
                .integer(met.span());
    }
}
