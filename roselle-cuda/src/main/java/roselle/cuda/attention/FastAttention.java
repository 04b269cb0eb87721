package roselle.cuda.attention;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepDemands;
import roselle.cuda.driver.Matrix;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.HeadKernels;
import roselle.cuda.step.StepMemory;
import roselle.tensor.DataType;

/**
 * Attention on tensor cores ({@code attention.cuh}): 16-bit rows, pages of 16-bit numbers or of codes, 16 tokens a page, usual
 * head sizes. What does not fit is left to the generic kernel whatever the number of rows, since a row has the same bits among
 * few and many.
 */
final class FastAttention {
    private final Launcher launcher;
    private final DataType type;
    private final DecodeAttention decode;
    private final Kernels kernels;
    private final Map<Integer, HeadKernels> sizes = new TreeMap<>();
    private final Map<KvType, Map<Integer, HeadKernels>> coded = new EnumMap<>(KvType.class);

    FastAttention(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
        decode = new DecodeAttention(device, launcher);
        for (int size : HeadKernels.SIZES) {
            if (type != DataType.F32 && HeadKernels.fits(device, size)) {
                sizes.put(size, HeadKernels.of(device, kernels, type, size));
            }
        }
    }

    private @Nullable HeadKernels kernels(HeadShape heads, KvGroup group, KvType cacheType, int pageTokens) {
        KvType stored = group.storedAs(cacheType);
        boolean fits = (stored == KvType.of(type) || hasTiles(stored))
                && pageTokens == AttentionTiling.PAGE
                && group.valueSize() != 0
                && (!group.isChunked() || Integer.bitCount(group.window()) == 1)
                && heads.keySize() == heads.valueSize();
        HeadKernels plain = fits ? sizes.get(heads.keySize()) : null;
        boolean lacksCodes = stored.isCoded() && heads.keySize() > HeadKernels.MAX_USUAL;
        if (plain == null || plain.tileTokens(heads) == 0 || lacksCodes) {
            return null;
        }
        return stored.isCoded() ? coded(stored, plain) : plain;
    }

    /**
     * Whether kernels make tiles of codes. Those of INT4 round scales of keys to 16 bits, which leaves scores further from the
     * definition than the contract allows: its pages are left to the generic kernel.
     */
    private static boolean hasTiles(KvType stored) {
        return stored == KvType.FP8 || stored == KvType.INT8;
    }

    /** Those of codes, which are loaded when a model first asks for them. */
    private HeadKernels coded(KvType codes, HeadKernels plain) {
        return coded.computeIfAbsent(codes, _ -> new TreeMap<>())
                .computeIfAbsent(plain.size(), _ -> plain.ofCodes(kernels, type, codes));
    }

    private @Nullable HeadKernels kernels(AttentionCall call) {
        return kernels(
                call.heads(), call.group(), call.cache().type(), call.cache().pageTokens());
    }

    private @Nullable HeadKernels kernels(StepDemands.Attention attention, StepDemands demands) {
        return kernels(
                attention.heads(),
                attention.group(),
                demands.cacheType(),
                demands.limits().pageTokens());
    }

    /** For each attention that has kernels here, the tokens of its tiles. */
    private Set<Integer> tileTokens(StepDemands demands) {
        var all = new TreeSet<Integer>();
        for (StepDemands.Attention each : demands.attentions()) {
            HeadKernels kernels = each.bothWays() ? null : kernels(each, demands);
            if (kernels != null) {
                all.add(kernels.tileTokens(each.heads()));
            }
        }
        return all;
    }

    private long partialBytes(StepDemands demands) {
        long most = 0;
        for (StepDemands.Attention each : demands.attentions()) {
            if (!each.bothWays() && kernels(each, demands) != null) {
                most = Math.max(most, DecodeAttention.partialBytes(demands.limits(), each.heads()));
            }
        }
        return most;
    }

    /** Bytes of device memory that steps need. */
    long stepBytes(StepDemands demands) {
        return tileTokens(demands).size() * StepMemory.tileBytes(demands.limits()) + partialBytes(demands);
    }

    /** Takes them. */
    void prepare(StepDemands demands, StepMemory step) {
        tileTokens(demands).forEach(step::reserveTiles);
        decode.reservePartials(partialBytes(demands));
    }

    /** Takes the memory that attention to any cache needs. */
    void reserve() {
        if (!sizes.isEmpty()) {
            decode.reserveCounters();
        }
    }

    /** Launches attention if there is a kernel for it; else it does nothing and says so. */
    boolean attend(AttentionCall call) {
        HeadKernels kernels = kernels(call);
        if (kernels == null || !call.isAligned()) {
            return false;
        }
        if (call.shape().isFew()) {
            decode.attend(kernels, call);
        } else {
            prefill(kernels, call);
        }
        return true;
    }

    /** Appends keys and values within attention if there is a kernel for it; else it does nothing and says so. */
    boolean appendAndAttend(AttentionCall call, DecodeAttention.Fresh fresh) {
        HeadKernels kernels = kernels(call);
        return kernels != null
                && call.shape().isSingle()
                && CudaBuffer.isAligned(call.output())
                && decode.appendAndAttend(kernels, call, fresh);
    }

    private void prefill(HeadKernels kernels, AttentionCall call) {
        StepMemory step = call.step();
        int tileTokens = kernels.tileTokens(call.heads());
        int tiles = step.sendTiles(tileTokens, launcher);
        int keyHeads = call.heads().keyHeads();
        boolean isPlain = call.layer().softCap() == 0 && !call.group().isChunked();
        Kernel hopper = isPlain ? kernels.prefillHopper() : null;
        parameters(launcher.of(hopper == null ? kernels.prefill() : hopper), call)
                .pointer(step.tiles(tileTokens))
                .pointer(step.rowStart());
        if (hopper == null) {
            launcher.shared(kernels.prefillSharedBytes()).launch(tiles, keyHeads, 1, 256);
        } else {
            launcher.matrix(pages(call), AttentionTiling.PAGE)
                    .shared(kernels.prefillHopperSharedBytes())
                    .launch(tiles, keyHeads, 1, 384);
        }
    }

    /** The pages of a layer as rows of keys and values. */
    static Matrix pages(AttentionCall call) {
        int size = call.heads().keySize();
        long rows = call.cache().pages(call.layer().group()) * (call.pageElements() / size);
        return new Matrix(call.pages(), Math.toIntExact(rows), size, (long) size * Short.BYTES);
    }

    /** What all kernels of {@code attention.cuh} are given first. */
    static Launcher parameters(Launcher launcher, AttentionCall call) {
        StepMemory step = call.step();
        return launcher.rows(call.query())
                .pointer(call.pages())
                .wide(call.pageElements())
                .pointer(call.pageTable())
                .integer(step.maxPages())
                .integer(call.heads().keyHeads())
                .integer(call.sharers())
                .number(call.layer().scale())
                .number(call.layer().softCap())
                .integer(call.window())
                .pointer(call.layer().sinks())
                .rows(call.output())
                .pointer(step.positions());
    }
}
