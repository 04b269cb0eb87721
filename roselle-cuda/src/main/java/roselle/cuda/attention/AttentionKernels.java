package roselle.cuda.attention;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.DistanceScores;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionScale;
import roselle.backend.operation.Rope;
import roselle.backend.step.StepDemands;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.layout.PageArgumentsLayout;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.HeadParameters;
import roselle.cuda.step.StepMemory;
import roselle.tensor.DataType;

/** Rotation, the cache, and attention to it. */
public final class AttentionKernels {
    public static final int FAST_ROPE_SIZE = 512; // of a head
    public static final int FAST_WARPS = 4;

    private static final int ENOUGH_WARPS = 8192; // to keep a device busy; of more heads a warp takes several
    private static final int MAX_HEADS_OF_WARP = 64;

    private final Launcher launcher;
    private final DataType type;
    private final Kernel append;
    private final Kernel appendLatent;
    private final Kernel attention;
    private final Kernel copyPage;
    private final Kernel fastAppend;
    private final FastAttention fast;
    private final LatentAttention latent;
    private final BothWaysAttention bothWays;

    public AttentionKernels(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.launcher = launcher;
        this.type = type;
        String suffix = "_" + type.label();
        KernelSource generic = KernelSource.GENERIC_ATTENTION;
        append = kernels.kernel(generic, "append" + suffix);
        appendLatent = kernels.kernel(generic, "append_latent" + suffix);
        attention = kernels.kernel(generic, "attention" + suffix);
        copyPage = kernels.kernel(KernelSource.GENERIC_ROWS, "copy_page");
        fastAppend = type == DataType.F32 ? append : kernels.kernel(KernelSource.ROWS, "rope_append" + suffix);
        fast = new FastAttention(device, kernels, launcher, type);
        latent = new LatentAttention(device, kernels, launcher, type);
        bothWays = new BothWaysAttention(device, kernels, launcher, type);
    }

    /** Takes the memory that attention to any cache needs. */
    public void reserve() {
        fast.reserve();
    }

    /** Bytes of device memory that steps need. */
    public long stepBytes(StepDemands demands) {
        return fast.stepBytes(demands) + latent.stepBytes(demands) + bothWays.stepBytes(demands);
    }

    /** Takes them. */
    public void prepare(StepDemands demands, StepMemory step) {
        fast.prepare(demands, step);
        latent.prepare(demands, step);
        bothWays.prepare(demands, step);
    }

    public void append(
            StepMemory step, int rows, Rows query, Rows key, Rows value, AttentionLayer layer, CudaKvCache cache) {
        HeadShape heads = layer.heads();
        boolean isFast = type != DataType.F32
                && layer.appends()
                && turnsPlainly(layer)
                && cache.type(layer.group()) == KvType.of(type)
                && cache.pageTokens() == AttentionTiling.PAGE
                && heads.keySize() <= FAST_ROPE_SIZE
                && heads.valueSize() <= FAST_ROPE_SIZE;
        if (isFast) {
            fastAppend(step, rows, query, key, value, layer, cache);
            return;
        }
        launcher.of(append)
                .rows(query)
                .rows(key)
                .rows(value)
                .integer(heads.queryHeads())
                .integer(heads.keyHeads())
                .integer(heads.keySize())
                .integer(heads.valueSize());
        headNorm(layer.queryNorm(), heads.keySize());
        headNorm(layer.keyNorm(), heads.keySize());
        rotation(layer.rope());
        launcher.flag(layer.traits().normsTurned());
        growth(layer.traits().queryScale());
        pages(step, layer, cache)
                .shared(Float.BYTES * Math.max(heads.keySize(), heads.valueSize()))
                .launch(rows, heads.queryHeads() + (layer.appends() ? 2 * heads.keyHeads() : 0), 1, 32);
    }

    /** Whether norms and rotation are all that happens to heads, in this order, as fast kernels have it. */
    private static boolean turnsPlainly(AttentionLayer layer) {
        return !layer.traits().normsTurned() && layer.traits().queryScale() == null;
    }

    private void headNorm(@Nullable Norm norm, int size) {
        if (norm == null) {
            launcher.integer(0).pointer(0).integer(0).number(0).pointer(0).number(0);
            return;
        }
        launcher.integer(norm.kind() == Norm.Kind.RMS ? 1 : 2)
                .pointer(norm.weight())
                .integer(HeadParameters.weightStep(norm, size))
                .number(norm.weightOffset())
                .pointer(norm.bias())
                .number(norm.epsilon());
    }

    private void rotation(@Nullable Rope rope) {
        if (rope == null) {
            launcher.pointer(0).integer(0).number(1).integer(0);
            return;
        }
        launcher.pointer(rope.inverseFrequencies())
                .integer(Math.toIntExact(rope.inverseFrequencies().elements()))
                .number(rope.factor())
                .flag(rope.interleaved());
    }

    private void growth(@Nullable PositionScale scale) {
        if (scale == null) {
            launcher.number(0).integer(0).integer(0);
            return;
        }
        launcher.number(scale.share()).integer(scale.tokens()).integer(scale.first());
    }

    private Launcher pages(StepMemory step, AttentionLayer layer, CudaKvCache cache) {
        return launcher.pointer(cache.address(layer.group(), layer.layer()))
                .integer(cache.typeNumber(layer.group()))
                .wide(cache.pageElements(layer.group()))
                .integer(cache.pageTokens())
                .pointer(step.pageTable(layer.group()))
                .integer(step.maxPages())
                .pointer(step.rowSequence())
                .pointer(step.positions());
    }

    private void fastAppend(
            StepMemory step, int rows, Rows query, Rows key, Rows value, AttentionLayer layer, CudaKvCache cache) {
        HeadShape heads = layer.heads();
        launcher.of(fastAppend)
                .rows(query)
                .rows(key)
                .rows(value)
                .integer(heads.queryHeads())
                .integer(heads.keyHeads())
                .integer(heads.keySize())
                .integer(heads.valueSize());
        HeadParameters.heads(launcher, layer);
        MemorySegment pages = launcher.struct();
        PageArgumentsLayout.CACHE.set(pages, cache.address(layer.group(), layer.layer()));
        PageArgumentsLayout.PAGE_ELEMENTS.set(pages, cache.pageElements(layer.group()));
        PageArgumentsLayout.PAGE_TABLE.set(pages, step.pageTable(layer.group()));
        PageArgumentsLayout.MAX_PAGES.set(pages, step.maxPages());
        PageArgumentsLayout.ROW_SEQUENCE.set(pages, step.rowSequence());
        PageArgumentsLayout.POSITIONS.set(pages, step.positions());
        boolean queriesChange = layer.queryNorm() != null || layer.rope() != null;
        int count = (queriesChange ? heads.queryHeads() : 0) + 2 * heads.keyHeads();
        int headsOfWarp = Math.clamp((long) rows * count / ENOUGH_WARPS, 1, MAX_HEADS_OF_WARP);
        launcher.integer(rows).integer(headsOfWarp);
        launcher.launch(
                Launcher.cover((long) rows * Launcher.cover(count, headsOfWarp), FAST_WARPS),
                1,
                1,
                FAST_WARPS * Launcher.WARP);
    }

    public void appendLatent(
            StepMemory step,
            int rows,
            Rows query,
            Rows latent,
            Rows absorbed,
            AttentionLayer layer,
            CudaKvCache cache) {
        HeadShape heads = layer.heads();
        launcher.of(appendLatent)
                .rows(query)
                .integer(query.columns() / heads.queryHeads())
                .rows(latent)
                .rows(absorbed)
                .integer(heads.queryHeads())
                .integer(heads.keySize())
                .integer(heads.valueSize());
        rotation(layer.rope());
        growth(layer.traits().queryScale());
        pages(step, layer, cache).shared(Float.BYTES * heads.keySize()).launch(rows, heads.queryHeads() + 1, 1, 32);
    }

    /** Appends and attends in one kernel if there is one for it; else it does nothing and says so. */
    public boolean appendAndAttend(AttentionCall call, Rows key, Rows value) {
        return !call.layer().bidirectional()
                && turnsPlainly(call.layer())
                && call.layer().traits().slopes() == null
                && fast.appendAndAttend(call, new DecodeAttention.Fresh(key, value));
    }

    public void attend(AttentionCall call) {
        AttentionLayer layer = call.layer();
        if (layer.traits().slopes() == null
                && (layer.bidirectional() ? bothWays.attend(call) : fast.attend(call) || latent.attend(call))) {
            return;
        }
        HeadShape heads = call.heads();
        DistanceBias distances = layer.traits().distances();
        launcher.of(attention)
                .rows(call.query())
                .integer(heads.queryHeads())
                .integer(heads.keyHeads())
                .integer(heads.keySize())
                .integer(heads.valueSize())
                .flag(call.group().valueSize() == 0)
                .number(layer.scale())
                .number(layer.softCap())
                .integer(call.window())
                .pointer(layer.sinks())
                .pointer(layer.traits().slopes())
                .pointer(layer.bidirectional() ? call.step().rowStart() : 0)
                .pointer(distances == null ? null : distances.table())
                .integer(distances == null ? 0 : distances.span());
        DistanceScores met = layer.traits().met();
        if (met == null) {
            launcher.pointer(0).wide(0).pointer(0).wide(0).integer(0).pointer(0).integer(0);
        } else {
            BothWaysAttention.meeting(launcher, met, heads.queryHeads());
        }
        launcher.rows(call.output());
        pages(call.step(), layer, call.cache())
                .shared(4 * (heads.keySize() + AttentionTiling.TILE + heads.valueSize()))
                .launch(call.shape().rows(), heads.queryHeads(), 1, 128);
    }

    public void copyPage(CudaKvCache cache, int group, int from, int to) {
        long pageBytes = cache.pageBytes(group);
        int blocks = (int) Math.min(64, (pageBytes + 4095) / 4096);
        launcher.of(copyPage)
                .pointer(cache.address(group))
                .wide(cache.layerBytes(group))
                .wide(pageBytes)
                .integer(from)
                .integer(to)
                .launch(blocks, cache.groups().get(group).layers(), 1, 256);
    }
}
