package roselle.cuda.attention;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepLimits;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Gpu;
import roselle.cuda.step.StepMemory;
import roselle.tensor.DataType;

/**
 * Latent attention on tensor cores ({@code latent.cuh}): 16-bit rows and pages, 16 tokens a page, 512 numbers of
 * value with 64 behind them, as DeepSeek V3 has.
 */
public final class LatentAttention {
    public static final int KEY = 576;
    public static final int VALUE = 512;
    public static final int ENTRY = VALUE + 2; // numbers of a partial result
    public static final int EARLY_SPLITS = 16;
    public static final int EARLY_TILES = 4;
    public static final int LATE_TILES = 16;
    public static final int WIDE_SHARED_MEMORY = 231_680;
    public static final int HOPPER_SHARED_MEMORY = 230_960;
    private static final int SMALL_SHARED_MEMORY = 100 << 10;
    private static final long MAX_PARTIAL_BYTES = 256 << 20; // beyond them a row is not cut into parts

    private final Gpu device;
    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final boolean isWide; // whether there is a kernel for tiles of 64 rows
    private @Nullable Loaded loaded;
    private long totals;
    private long partials;
    private long partialsBytes;

    /** A kernel for tiles of so many rows. */
    private record Attending(Kernel kernel, int rows, int threads, int shared) {}

    /**
     * What blocks take: rows, or tiles of them.
     *
     * @param tiles address of the tiles; 0 where each row is taken on its own
     * @param parts blocks that share one
     */
    private record Items(long tiles, int count, int parts) {}

    /** The kernels, once there is a model for them; {@code wide} is {@code narrow} where there is no other. */
    private record Loaded(Attending narrow, Attending wide, Kernel merge) {}

    LatentAttention(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
        isWide = device.sharedMemory() >= WIDE_SHARED_MEMORY;
    }

    private boolean fits(HeadShape heads, KvGroup group, KvType cacheType, int pageTokens) {
        return type != DataType.F32
                && cacheType == KvType.of(type)
                && pageTokens == AttentionTiling.PAGE
                && group.valueSize() == 0
                && group.window() == 0
                && heads.keyHeads() == 1
                && heads.keySize() == KEY
                && heads.valueSize() == VALUE;
    }

    private boolean fits(StepDemands.Attention attention, StepDemands demands) {
        return fits(
                attention.heads(),
                attention.group(),
                demands.cacheType(),
                demands.limits().pageTokens());
    }

    /** Bytes of device memory that steps need. */
    long stepBytes(StepDemands demands) {
        long most = 0;
        var tiles = new TreeSet<Integer>();
        for (StepDemands.Attention each : demands.attentions()) {
            if (fits(each, demands)) {
                most = Math.max(most, totalBytes() + partialBytes(demands.limits(), each.heads()));
                tiles.add(tileTokens(each.heads()));
            }
        }
        return most + tiles.size() * StepMemory.tileBytes(demands.limits());
    }

    /** Takes them, and loads the kernels. */
    void prepare(StepDemands demands, StepMemory step) {
        for (StepDemands.Attention each : demands.attentions()) {
            if (fits(each, demands)) {
                step.reserveTiles(tileTokens(each.heads()));
                reservePartials(partialBytes(demands.limits(), each.heads()));
                loaded();
            }
        }
    }

    private Loaded loaded() {
        Loaded there = loaded;
        if (there == null) {
            Attending narrow = narrow();
            Kernel merge = kernels.kernel(KernelSource.ATTENTION_LATENT, "latent_merge_" + type.label());
            there = new Loaded(narrow, isWide ? wide() : narrow, merge);
            totals = device.memory().allocate(totalBytes());
            loaded = there;
        }
        return there;
    }

    private Attending narrow() {
        int stages = device.sharedMemory() < SMALL_SHARED_MEMORY ? 1 : 2;
        Kernel kernel = kernels.kernel(KernelSource.ATTENTION_LATENT, "latent_16_" + type.label());
        return new Attending(kernel, 16, 256, narrowSharedBytes(stages));
    }

    public static int narrowSharedBytes(int stages) {
        return 8192 + stages * 65_536 + 4800;
    }

    private Attending wide() {
        if (device.isHopper()) {
            Kernel kernel = kernels.kernel(KernelSource.ATTENTION_LATENT_HOPPER, "latent_hopper_" + type.label());
            return new Attending(kernel, 64, 384, HOPPER_SHARED_MEMORY);
        }
        Kernel kernel = kernels.kernel(KernelSource.ATTENTION_LATENT, "latent_64_" + type.label());
        return new Attending(kernel, 64, 256, WIDE_SHARED_MEMORY);
    }

    private int widest() {
        return isWide ? 64 : 16;
    }

    /** Sums over splits of the blocks that run at a time. */
    private long totalBytes() {
        return (long) device.multiprocessors() * widest() * VALUE * Float.BYTES;
    }

    /** Tokens of a tile of many rows. */
    private int tileTokens(HeadShape heads) {
        return Math.max(1, widest() / heads.queryHeads());
    }

    private long partialBytes(StepLimits limits, HeadShape heads) {
        return partialBytes(limits.maxRows(), limits.maxPages(), heads);
    }

    private long partialBytes(int maxRows, int maxPages, HeadShape heads) {
        long row = rowBytes(maxPages, heads);
        return Math.min(Math.min(maxRows, device.multiprocessors()) * row, Math.max(row, MAX_PARTIAL_BYTES));
    }

    /** Bytes of all splits of a row. */
    private static long rowBytes(int maxPages, HeadShape heads) {
        return (long) splits(maxPages) * heads.queryHeads() * ENTRY * Float.BYTES;
    }

    private static int splits(int pages) {
        int tiles = Launcher.cover((long) pages * AttentionTiling.PAGE, AttentionTiling.TILE);
        int early = EARLY_SPLITS * EARLY_TILES;
        return tiles <= early
                ? Launcher.cover(tiles, EARLY_TILES)
                : EARLY_SPLITS + Launcher.cover(tiles - early, LATE_TILES);
    }

    private void reservePartials(long bytes) {
        if (bytes > partialsBytes) {
            partials = device.memory().allocateScratch(bytes);
            partialsBytes = bytes;
        }
    }

    /** Launches attention if there is a kernel for it; else it does nothing and says so. */
    boolean attend(AttentionCall call) {
        boolean isPlain = call.layer().softCap() == 0 && call.layer().sinks() == null;
        CudaKvCache cache = call.cache();
        if (!isPlain || !call.isAligned() || !fits(call.heads(), call.group(), cache.type(), cache.pageTokens())) {
            return false;
        }
        if (call.shape().isFew()) {
            few(call);
        } else {
            many(call);
        }
        return true;
    }

    private void many(AttentionCall call) {
        int tokens = tileTokens(call.heads());
        int count = call.step().sendTiles(tokens, launcher);
        launch(loaded().wide, call, new Items(call.step().tiles(tokens), count, 1));
    }

    private void few(AttentionCall call) {
        HeadShape heads = call.heads();
        StepMemory step = call.step();
        int rows = call.shape().rows();
        Attending kernel = isCrowd(rows, heads) ? loaded().wide : loaded().narrow;
        int parts = parts(step, rows, heads, kernel.rows);
        launch(kernel, call, new Items(0, rows, parts));
        if (parts > 1) {
            launcher.of(loaded().merge)
                    .pointer(partials)
                    .integer(splits(step.maxPages()))
                    .integer(heads.queryHeads())
                    .pointer(step.positions())
                    .rows(call.output())
                    .launch(heads.queryHeads(), rows, 1, 128);
        }
    }

    /** Whether so few rows are fastest in the tiles of many: they have heads for more than one of the small ones. */
    private boolean isCrowd(int rows, HeadShape heads) {
        int tiles = Launcher.cover(heads.queryHeads(), 16);
        return tiles > 1 && (long) rows * tiles * 3 >= device.multiprocessors();
    }

    /** How many blocks share an item, so that all multiprocessors have work and partial results have room. */
    private int parts(StepMemory step, int rows, HeadShape heads, int tileRows) {
        long items = (long) rows * Launcher.cover(heads.queryHeads(), tileRows);
        int splits = splits(step.maxPages());
        int parts = Math.clamp(device.multiprocessors() / items, 1, splits);
        long room = partialBytes(step.maxRows(), step.maxPages(), heads);
        return rows * rowBytes(step.maxPages(), heads) <= room ? parts : 1;
    }

    private void launch(Attending kernel, AttentionCall call, Items items) {
        HeadShape heads = call.heads();
        StepMemory step = call.step();
        if (items.parts > 1) {
            reservePartials(partialBytes(step.maxRows(), step.maxPages(), heads));
        }
        int blocks = Math.multiplyExact(items.count, Launcher.cover(heads.queryHeads(), kernel.rows));
        launcher.of(kernel.kernel)
                .rows(call.query())
                .pointer(call.pages())
                .wide(call.pageElements())
                .pointer(call.pageTable())
                .integer(step.maxPages())
                .pointer(step.rowSequence())
                .pointer(step.positions())
                .integer(heads.queryHeads())
                .number(call.layer().scale())
                .rows(call.output())
                .pointer(items.tiles)
                .pointer(step.rowStart())
                .integer(items.count)
                .pointer(partials)
                .integer(splits(step.maxPages()))
                .pointer(totals)
                .shared(kernel.shared)
                .launch(
                        items.parts > 1 ? blocks : Math.min(blocks, device.multiprocessors()),
                        items.parts,
                        1,
                        kernel.threads);
    }
}
