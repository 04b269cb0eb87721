package roselle.cuda;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.backend.AttentionLayer;
import roselle.backend.HeadShape;
import roselle.backend.KvGroup;
import roselle.backend.Rows;
import roselle.backend.StepDemands;
import roselle.backend.StepLimits;
import roselle.cuda.driver.Matrix;
import roselle.tensor.DataType;

/** Attention on tensor cores ({@code attention.cuh}): 16-bit rows and pages, 16 tokens a page, usual head sizes. */
final class FastAttention {
    private static final int PAGE = 16;
    private static final int SPLIT = 128;
    private static final int TILE_ROWS = 128;
    private static final int SMALL_SHARED_MEMORY = 100 << 10;
    private static final int FULL_PAIRS = 100; // (row, key head) pairs from which parts do not pay
    private static final int PART_PAIRS = 200;
    private static final int MOST_PARTS = 8;
    private static final int MOST_FRESH_NUMBERS = 51_200; // of keys, from which an append beforehand is faster
    private static final int LEAST_ALONE = 500; // pairs from which a warp for each of them is faster
    private static final int LEAST_FRESH_ALONE = 600; // and where such a warp may append as well
    private static final int MOST_FRESH_ALONE = 1200;
    private static final int MOST_ALONE_GROUP = 8; // heads of queries that such a warp takes

    private final Device device;
    private final Launcher launcher;
    private final DataType type;
    private final Map<Integer, Sized> sizes = new TreeMap<>();
    private long partials;
    private long partialsBytes;
    private long counters;
    private int counterCount;

    /** The kernels for one head size. */
    private record Sized(
            Kernel few,
            Kernel fresh,
            @Nullable Kernel alone,
            @Nullable Kernel freshAlone,
            Kernel many,
            @Nullable Kernel hopper,
            int stages,
            int halves,
            int hopperStages) {}

    /** What attention appends before it begins: rows as the product left them. */
    record Fresh(Rows query, Rows key, Rows value) {}

    FastAttention(Device device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.launcher = launcher;
        this.type = type;
        if (type == DataType.F32) {
            return;
        }
        boolean small = device.sharedMemory() < SMALL_SHARED_MEMORY;
        for (int size : new int[] {64, 80, 96, 128, 256}) {
            int halves = size == 256 || (small && size == 128) ? 2 : 1;
            if (manySharedBytes(size, halves) > device.sharedMemory()) {
                continue;
            }
            String suffix = "_" + size + "_" + type.label();
            Kernel few = kernels.kernel(KernelSource.ATTENTION_FEW, "attention_few" + suffix);
            Kernel fresh = kernels.kernel(KernelSource.ATTENTION_FEW, "attention_step" + suffix);
            boolean hasAlone = size == 64 || size == 128;
            Kernel alone = hasAlone ? kernels.kernel(KernelSource.ATTENTION_ALONE, "attention_alone" + suffix) : null;
            Kernel freshAlone =
                    hasAlone ? kernels.kernel(KernelSource.ATTENTION_ALONE, "attention_alone_step" + suffix) : null;
            Kernel many = kernels.kernel(KernelSource.ATTENTION_MANY, "attention_many" + suffix);
            boolean hasHopper = device.isHopper() && (size == 64 || size == 128);
            Kernel hopper =
                    hasHopper ? kernels.kernel(KernelSource.ATTENTION_HOPPER, "attention_hopper" + suffix) : null;
            int stages = size == 80 ? 4 : size == 256 || (small && size == 128) ? 2 : 3;
            sizes.put(size, new Sized(few, fresh, alone, freshAlone, many, hopper, stages, halves, size == 64 ? 6 : 3));
        }
    }

    private @Nullable Sized sized(HeadShape heads, KvGroup group, DataType cacheType, int pageTokens) {
        boolean fits = cacheType == type
                && pageTokens == PAGE
                && group.valueSize() != 0
                && heads.keySize() == heads.valueSize();
        Sized sized = fits ? sizes.get(heads.keySize()) : null;
        // few rows too: a row has the same bits among many
        return sized == null || tileTokens(sized, heads) == 0 ? null : sized;
    }

    /** Tokens of a tile of many rows. */
    private static int tileTokens(Sized sized, HeadShape heads) {
        return TILE_ROWS / sized.halves / (heads.queryHeads() / heads.keyHeads());
    }

    /** For each attention that has kernels here, the tokens of its tiles. */
    private Set<Integer> tileTokens(StepDemands demands) {
        var all = new TreeSet<Integer>();
        for (StepDemands.Attention each : demands.attentions()) {
            Sized sized = sized(each, demands);
            if (sized != null) {
                all.add(tileTokens(sized, each.heads()));
            }
        }
        return all;
    }

    private @Nullable Sized sized(StepDemands.Attention attention, StepDemands demands) {
        return sized(
                attention.heads(),
                attention.group(),
                demands.cacheType(),
                demands.limits().pageTokens());
    }

    private long partialBytes(StepDemands demands) {
        long most = 0;
        for (StepDemands.Attention each : demands.attentions()) {
            if (sized(each, demands) != null) {
                StepLimits limits = demands.limits();
                most = Math.max(most, partialBytes(limits.maxRows(), limits.maxPages(), each.heads()));
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
        reservePartials(partialBytes(demands));
    }

    /** Takes zeroed counters for the blocks that share a row. */
    void reserve() {
        if (counterCount == 0 && !sizes.isEmpty()) {
            counterCount = PART_PAIRS * 16;
            counters = device.memory().allocate((long) counterCount * Integer.BYTES);
            device.driver().clear(counters, (long) counterCount * Integer.BYTES, device.stream());
            launcher.barrier();
        }
    }

    /** Launches attention if there is a kernel for it; else it does nothing and says so. */
    boolean attend(StepMemory step, StepShape shape, Rows query, AttentionLayer layer, CudaKvCache cache, Rows output) {
        HeadShape heads = layer.heads();
        KvGroup group = cache.groups().get(layer.group());
        Sized sized = sized(heads, group, cache.type(), cache.pageTokens());
        if (sized == null || !CudaBuffer.isAligned(query) || !CudaBuffer.isAligned(output)) {
            return false;
        }
        if (shape.isFew()) {
            few(step, shape, sized, query, layer, cache, output);
            return true;
        }
        int tileTokens = tileTokens(sized, heads);
        Kernel hopper = layer.softCap() == 0 ? sized.hopper : null;
        int size = heads.keySize();
        int tiles = step.sendTiles(tileTokens, launcher);
        parameters(hopper == null ? sized.many : hopper, step, query, layer, cache, output)
                .pointer(step.tiles(tileTokens))
                .pointer(step.rowStart());
        if (hopper == null) {
            launcher.shared(manySharedBytes(size, sized.halves)).launch(tiles, heads.keyHeads(), 1, 256);
        } else {
            int stages = sized.hopperStages;
            launcher.matrix(pages(cache, layer, size), PAGE)
                    .shared((TILE_ROWS + stages * 256) * 2 * size + 1024 + 24 * stages)
                    .launch(tiles, heads.keyHeads(), 1, 384);
        }
        return true;
    }

    private static int manySharedBytes(int size, int halves) {
        return (TILE_ROWS / halves + 256) * 2 * (size + 8);
    }

    /** The pages of a layer as rows of keys and values. */
    private static Matrix pages(CudaKvCache cache, AttentionLayer layer, int size) {
        long rows = cache.pages(layer.group()) * (cache.pageElements(layer.group()) / size);
        long address = cache.address(layer.group(), layer.layer());
        return new Matrix(address, Math.toIntExact(rows), size, (long) size * Short.BYTES);
    }

    /** Appends keys and values within attention if there is a kernel for it; else it does nothing and says so. */
    boolean appendAndAttend(
            StepMemory step, StepShape shape, Fresh fresh, AttentionLayer layer, CudaKvCache cache, Rows output) {
        HeadShape heads = layer.heads();
        KvGroup group = cache.groups().get(layer.group());
        Sized sized = sized(heads, group, cache.type(), cache.pageTokens());
        if (sized == null || !shape.isSingle() || !CudaBuffer.isAligned(output)) {
            return false;
        }
        int pairs = shape.rows() * heads.keyHeads();
        boolean isAlone = sized.freshAlone != null
                && isAlone(shape, heads)
                && pairs >= LEAST_FRESH_ALONE
                && pairs <= MOST_FRESH_ALONE;
        boolean pays = (long) pairs * heads.keySize() <= MOST_FRESH_NUMBERS;
        if (!isAlone && !pays) {
            return false;
        }
        int parts = isAlone ? 1 : parts(shape, heads);
        Kernel kernel = isAlone && sized.freshAlone != null ? sized.freshAlone : sized.fresh;
        fewParameters(kernel, step, parts, fresh.query, layer, cache, output)
                .rows(fresh.key)
                .rows(fresh.value);
        HeadParameters.heads(launcher, layer);
        if (isAlone) {
            launchAlone(shape, heads);
        } else {
            launchFew(shape, heads, sized.stages, parts);
        }
        return true;
    }

    /** Whether a warp for each pair of row and key head fills the device. */
    private static boolean isAlone(StepShape shape, HeadShape heads) {
        return shape.rows() * heads.keyHeads() >= LEAST_ALONE
                && heads.queryHeads() / heads.keyHeads() <= MOST_ALONE_GROUP;
    }

    private static int parts(StepShape shape, HeadShape heads) {
        int pairs = shape.rows() * heads.keyHeads();
        return pairs >= FULL_PAIRS ? 1 : Math.clamp(PART_PAIRS / pairs, 1, MOST_PARTS);
    }

    private void few(
            StepMemory step,
            StepShape shape,
            Sized sized,
            Rows query,
            AttentionLayer layer,
            CudaKvCache cache,
            Rows output) {
        HeadShape heads = layer.heads();
        if (sized.alone != null && isAlone(shape, heads)) {
            fewParameters(sized.alone, step, 1, query, layer, cache, output);
            launchAlone(shape, heads);
            return;
        }
        int parts = parts(shape, heads);
        fewParameters(sized.few, step, parts, query, layer, cache, output);
        launchFew(shape, heads, sized.stages, parts);
    }

    private void launchAlone(StepShape shape, HeadShape heads) {
        int size = heads.keySize();
        int halves = size == 64 ? 4 : 3; // of a tile, on their way
        launcher.shared(halves * 128 * size).launch(1, heads.keyHeads(), shape.rows(), 32);
    }

    private Launcher fewParameters(
            Kernel kernel,
            StepMemory step,
            int parts,
            Rows query,
            AttentionLayer layer,
            CudaKvCache cache,
            Rows output) {
        if (parts > 1) {
            reservePartials(partialBytes(step.maxRows(), step.maxPages(), layer.heads()));
        }
        return parameters(kernel, step, query, layer, cache, output)
                .pointer(step.rowSequence())
                .pointer(step.contextLength())
                .pointer(partials)
                .pointer(step.firstEntry())
                .pointer(counters);
    }

    private void launchFew(StepShape shape, HeadShape heads, int stages, int parts) {
        int size = heads.keySize();
        int headTiles = Launcher.cover(heads.queryHeads() / heads.keyHeads(), 16);
        launcher.shared(stages * 256 * (size + 8) + 32 * size + 2560)
                .cluster(device.isHopper() ? parts : 1)
                .launch(parts, heads.keyHeads() * headTiles, shape.rows(), 128);
    }

    private static long partialBytes(int maxRows, int maxPages, HeadShape heads) {
        long rows = Math.min(maxRows, FULL_PAIRS / heads.keyHeads() + 1);
        long splits = Launcher.cover((long) maxPages * PAGE, SPLIT);
        return rows * splits * heads.queryHeads() * (heads.keySize() + 2) * Float.BYTES;
    }

    private void reservePartials(long bytes) {
        if (bytes > partialsBytes) {
            partials = device.memory().allocate(bytes);
            partialsBytes = bytes;
        }
    }

    private Launcher parameters(
            Kernel kernel, StepMemory step, Rows query, AttentionLayer layer, CudaKvCache cache, Rows output) {
        HeadShape heads = layer.heads();
        return launcher.of(kernel)
                .rows(query)
                .pointer(cache.address(layer.group(), layer.layer()))
                .wide(cache.pageElements(layer.group()))
                .pointer(step.pageTable(layer.group()))
                .integer(step.maxPages())
                .integer(heads.keyHeads())
                .integer(heads.queryHeads() / heads.keyHeads())
                .number(layer.scale())
                .number(layer.softCap())
                .integer(cache.groups().get(layer.group()).window())
                .pointer(layer.sinks())
                .rows(output)
                .pointer(step.positions());
    }
}
