package roselle.cuda.attention;

import roselle.backend.memory.Rows;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepLimits;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.HeadKernels;
import roselle.cuda.row.HeadParameters;
import roselle.cuda.step.StepMemory;

/**
 * Decode attention: few rows, each on its own, with the bits of prefill. A <i>pair</i> is a row and a key head. Few pairs have
 * several blocks each, which share the context, up to 32 of them; more have one; very many have a warp each. New heads are
 * appended by the same kernel where that is faster than a kernel before it.
 *
 * <p>The numbers are where the one became faster than the other on an H200 (docs/performance.md).
 */
final class DecodeAttention {
    private static final int FULL_PAIRS = 100; // from which several blocks a pair do not pay
    private static final int PART_PAIRS = 200;
    private static final int CLUSTER = 8; // blocks, at most
    private static final int MAX_CLUSTERS = 4; // of a pair
    private static final int CLUSTERS_AT_ONCE = 24; // that find room, of blocks that share a multiprocessor
    private static final int MIN_WARP_PAIRS = 500; // pairs of a warp each
    private static final int MAX_WARP_SHARERS = 8; // heads of queries that such a warp takes
    private static final int MIN_WARP_APPEND_PAIRS = 600; // pairs of a warp each that also appends
    private static final int MAX_FRESH_NUMBERS = 153_600; // of new keys, up to which warps and bulk blocks append
    private static final int MAX_PLAIN_FRESH_NUMBERS = 51_200; // up to which other blocks do

    // Of bulk blocks, to which the copy engine brings pages:
    private static final int FULL_SMALL_PAIRS = 90; // FULL_PAIRS of heads of 64 numbers, but of short contexts
    private static final int SHORT_SPLITS = 2;
    private static final int MAX_SHORT_PAIRS = 32; // of larger heads, which share out short contexts

    private final Gpu device;
    private final Launcher launcher;
    private long partials;
    private long partialsBytes;
    private long counters;
    private int counterCount;

    /** New keys and values, as the product left them. */
    record Fresh(Rows key, Rows value) {}

    DecodeAttention(Gpu device, Launcher launcher) {
        this.device = device;
        this.launcher = launcher;
    }

    /** Bytes of device memory for partial results of steps within limits. */
    static long partialBytes(StepLimits limits, HeadShape heads) {
        return partialBytes(limits.maxRows(), limits.maxPages(), heads);
    }

    private static long partialBytes(int maxRows, int maxPages, HeadShape heads) {
        long rows = Math.min(maxRows, FULL_PAIRS / heads.keyHeads() + 1);
        long splits = Launcher.cover((long) maxPages * AttentionTiling.PAGE, AttentionTiling.SPLIT);
        return rows * splits * heads.queryHeads() * (heads.keySize() + 2) * Float.BYTES;
    }

    /** Takes them. */
    void reservePartials(long bytes) {
        if (bytes > partialsBytes) {
            partials = device.memory().allocateScratch(bytes);
            partialsBytes = bytes;
        }
    }

    /** Takes zeroed counters for the blocks that share a pair. */
    void reserveCounters() {
        if (counterCount == 0) {
            counterCount = PART_PAIRS * 16;
            counters = device.memory().allocate((long) counterCount * Integer.BYTES);
            device.driver().clear(counters, (long) counterCount * Integer.BYTES, device.stream());
            launcher.barrier();
        }
    }

    private static int pairs(AttentionCall call) {
        return call.shape().rows() * call.heads().keyHeads();
    }

    /** How many blocks share a pair: one, up to a cluster, or clusters. */
    private int parts(HeadKernels kernels, AttentionCall call) {
        int parts = kernels.isBulk() ? bulkParts(kernels, call) : plainParts(call);
        if (parts < CLUSTER || !device.isHopper()) {
            return parts;
        }
        int clusters = Math.min(MAX_CLUSTERS, Launcher.cover(splits(call), CLUSTER));
        return CLUSTER * Math.clamp(CLUSTERS_AT_ONCE / (pairs(call) * headTiles(call)), 1, clusters);
    }

    private static int plainParts(AttentionCall call) {
        int pairs = pairs(call);
        return pairs >= FULL_PAIRS ? 1 : Math.clamp(PART_PAIRS / pairs, 1, CLUSTER);
    }

    private static int bulkParts(HeadKernels kernels, AttentionCall call) {
        int pairs = pairs(call);
        int blocks = kernels.size() == HeadKernels.MAX_USUAL ? 1 : 2; // that a multiprocessor has room for
        int splits = splits(call);
        if (pairs >= fullPairs(kernels.size(), blocks, splits <= SHORT_SPLITS)) {
            return 1;
        }
        int parts = Math.clamp(blocks * PART_PAIRS / 2 / pairs, 1, Math.min(splits, CLUSTER));
        boolean isLess = parts < CLUSTER || kernels.size() == 64; // which fits badly, or has less to read than to share
        return splits <= CLUSTER && isLess ? Math.min(parts, CLUSTER / 2) : parts;
    }

    private static int fullPairs(int size, int blocks, boolean isShort) {
        if (size == 64) {
            return isShort ? FULL_PAIRS : FULL_SMALL_PAIRS;
        }
        return isShort ? MAX_SHORT_PAIRS + 1 : blocks * FULL_PAIRS / 2;
    }

    /** Splits of the longest context that a step of this shape can have. */
    private static int splits(AttentionCall call) {
        return Launcher.cover((long) call.step().maxPages() * AttentionTiling.PAGE, AttentionTiling.SPLIT);
    }

    /** Blocks that share the heads of a key head. */
    private static int headTiles(AttentionCall call) {
        return Launcher.cover(call.sharers(), 16);
    }

    private static boolean hasWarps(HeadKernels kernels, AttentionCall call) {
        boolean blocksAreFaster = kernels.isBulk() && kernels.size() == 64 && call.sharers() > 1;
        return pairs(call) >= MIN_WARP_PAIRS && call.sharers() <= MAX_WARP_SHARERS && !blocksAreFaster;
    }

    void attend(HeadKernels kernels, AttentionCall call) {
        Kernel warp = kernels.decodeWarp();
        if (warp != null && hasWarps(kernels, call)) {
            parameters(warp, call, 1);
            launchWarps(kernels, call);
        } else {
            int parts = parts(kernels, call);
            parameters(kernels.decode(), call, parts);
            launchBlocks(kernels, call, parts);
        }
    }

    /** Appends and attends in one kernel where that is faster; else it does nothing and says so. */
    boolean appendAndAttend(HeadKernels kernels, AttentionCall call, Fresh fresh) {
        int pairs = pairs(call);
        long numbers = (long) pairs * kernels.size();
        Kernel warp = kernels.decodeWarpAppend();
        if (warp != null && hasWarps(kernels, call) && pairs >= MIN_WARP_APPEND_PAIRS && numbers <= MAX_FRESH_NUMBERS) {
            freshParameters(warp, call, 1, fresh);
            launchWarps(kernels, call);
            return true;
        }
        Kernel append = kernels.decodeAppend();
        if (append == null || numbers > (kernels.isBulk() ? MAX_FRESH_NUMBERS : MAX_PLAIN_FRESH_NUMBERS)) {
            return false;
        }
        int parts = parts(kernels, call);
        freshParameters(append, call, parts, fresh);
        launchBlocks(kernels, call, parts);
        return true;
    }

    private Launcher parameters(Kernel kernel, AttentionCall call, int parts) {
        StepMemory step = call.step();
        if (parts > 1) {
            reservePartials(partialBytes(step.maxRows(), step.maxPages(), call.heads()));
        }
        return FastAttention.parameters(launcher.of(kernel), call)
                .pointer(step.rowSequence())
                .pointer(step.contextLength())
                .pointer(partials)
                .pointer(step.firstEntry())
                .pointer(counters);
    }

    private void freshParameters(Kernel kernel, AttentionCall call, int parts, Fresh fresh) {
        parameters(kernel, call, parts).rows(fresh.key).rows(fresh.value);
        HeadParameters.heads(launcher, call.layer());
    }

    private void launchWarps(HeadKernels kernels, AttentionCall call) {
        launcher.shared(kernels.decodeWarpSharedBytes())
                .launch(1, call.heads().keyHeads(), call.shape().rows(), Launcher.WARP);
    }

    private void launchBlocks(HeadKernels kernels, AttentionCall call, int parts) {
        if (kernels.isBulk()) {
            launcher.matrix(FastAttention.pages(call), AttentionTiling.PAGE);
        }
        launcher.shared(kernels.decodeSharedBytes())
                .cluster(device.isHopper() ? Math.min(parts, CLUSTER) : 1)
                .launch(
                        parts,
                        call.heads().keyHeads() * headTiles(call),
                        call.shape().rows(),
                        128);
    }
}
