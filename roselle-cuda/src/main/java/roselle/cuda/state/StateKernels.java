package roselle.cuda.state;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Norm;
import roselle.backend.operation.SelectiveScan;
import roselle.cuda.attention.CudaKvCache;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.step.StepMemory;
import roselle.cuda.step.StepShape;
import roselle.tensor.DataType;

/**
 * Convolutions, delta rules and selective scans of a step.
 *
 * <p>Which kernel it is depends on sizes and types alone, but for single rows: those for them ({@code delta_rule_decode}, and
 * {@code delta_net_decode} for few) give the bits of that for many ({@code delta_rule_rows}).
 */
public final class StateKernels {
    private static final int THREADS = 128;
    private static final int ROWS_OF_THREAD = 16; // of a convolution, among many
    private static final int CHANNELS_OF_THREAD = 8;
    private static final int BLOCKS_TO_FILL = 2; // of a multiprocessor

    private final Gpu device;
    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private @Nullable Loaded loaded;

    /** The kernels, which devices load once a model needs them. */
    private record Loaded(
            Kernel convolve,
            Kernel deltaRule,
            Kernel channelRule,
            Kernel selectiveScan,
            @Nullable Kernel threeTaps,
            @Nullable Kernel fourTaps,
            @Nullable Kernel deltaRows,
            @Nullable Kernel deltaDecode,
            @Nullable Kernel netDecode,
            @Nullable Kernel spaceRows,
            @Nullable Kernel spaceDecode) {
        static Loaded of(Kernels kernels, DataType type) {
            KernelSource generic = KernelSource.GENERIC_STATE;
            KernelSource fast = KernelSource.DELTA_RULE;
            String suffix = "_" + type.label();
            boolean is16Bit = type != DataType.F32;
            return new Loaded(
                    kernels.kernel(generic, "convolve" + suffix),
                    kernels.kernel(generic, "delta_rule" + suffix),
                    kernels.kernel(generic, "channel_rule" + suffix),
                    kernels.kernel(generic, "selective_scan" + suffix),
                    is16Bit ? kernels.kernel(generic, "convolve_rows_three" + suffix) : null,
                    is16Bit ? kernels.kernel(generic, "convolve_rows_four" + suffix) : null,
                    is16Bit ? kernels.kernel(fast, "delta_rule_rows" + suffix) : null,
                    is16Bit ? kernels.kernel(fast, "delta_rule_decode" + suffix) : null,
                    is16Bit ? kernels.kernel(fast, "delta_net_decode" + suffix) : null,
                    is16Bit ? kernels.kernel(fast, "space_rows" + suffix) : null,
                    is16Bit ? kernels.kernel(fast, "space_decode" + suffix) : null);
        }

        /** The kernel on tensor cores for steps of single rows, or of any. */
        Kernel fast(DeltaRule rule, boolean isSingle) {
            boolean isSpace = rule.space() != null;
            Kernel kernel = isSingle ? isSpace ? spaceDecode : deltaDecode : isSpace ? spaceRows : deltaRows;
            if (kernel == null) {
                throw new IllegalStateException("no kernel for rows of 32 bits");
            }
            return kernel;
        }

        @Nullable
        Kernel fastConvolution(int taps) {
            return switch (taps) {
                case 3 -> threeTaps;
                case 4 -> fourTaps;
                default -> null;
            };
        }
    }

    public StateKernels(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
    }

    /** Loads the kernels where layers keep states. */
    public void reserve(List<KvGroup> groups) {
        if (groups.stream().anyMatch(KvGroup::isState)) {
            loaded();
        }
    }

    private Loaded loaded() {
        Loaded known = loaded;
        if (known == null) {
            known = Loaded.of(kernels, type);
            loaded = known;
        }
        return known;
    }

    /** Convolves and appends the rows of a step. */
    public void convolve(
            StepMemory step, StepShape shape, Rows input, Convolution convolution, CudaKvCache cache, Rows output) {
        int channels = convolution.channels();
        Kernel fast = channels % CHANNELS_OF_THREAD == 0 ? loaded().fastConvolution(convolution.taps()) : null;
        launcher.of(fast == null ? loaded().convolve() : fast)
                .rows(input)
                .pointer(convolution.weight())
                .pointer(convolution.bias())
                .integer(KernelNumbers.of(convolution.activation()))
                .rows(output)
                .integer(channels);
        if (fast == null) {
            launcher.integer(convolution.taps());
            pages(step, convolution.group(), convolution.layer(), cache)
                    .launch(shape.rows(), Launcher.cover(channels, THREADS), 1, THREADS);
            return;
        }
        int rowsOfThread = shape.isFew() ? 1 : ROWS_OF_THREAD;
        pages(step, convolution.group(), convolution.layer(), cache)
                .integer(shape.rows())
                .integer(rowsOfThread)
                .launch(
                        Launcher.cover(shape.rows(), rowsOfThread),
                        Launcher.cover(channels, THREADS * CHANNELS_OF_THREAD),
                        1,
                        THREADS);
    }

    /** The delta rule of a step's rows. */
    public void deltaRule(StepMemory step, StepShape shape, DeltaCall call, CudaKvCache cache) {
        DeltaHeads heads = call.rule().heads();
        if (type != DataType.F32 && DeltaSizes.areFast(heads, cache.pageTokens())) {
            fastDeltaRule(step, shape, call, cache);
            return;
        }
        int sharedBytes = DeltaSizes.sharedBytes(heads, cache.pageTokens());
        if (sharedBytes > device.sharedMemory()) {
            throw new DeviceException("a delta rule with keys of " + heads.keySize() + " numbers on pages of "
                    + cache.pageTokens() + " tokens needs " + sharedBytes + " bytes of shared memory, and a block of "
                    + device.name() + " has " + device.sharedMemory() + ": use pages of fewer tokens");
        }
        inputs(heads.decaysByChannel() ? loaded().channelRule() : loaded().deltaRule(), call)
                .integer(heads.keyHeads())
                .integer(heads.valueHeads())
                .integer(heads.keySize())
                .integer(heads.valueSize())
                .flag(heads.takesTurns())
                .flag(shape.isFew());
        pages(step, call.rule().group(), call.rule().layer(), cache)
                .shared(sharedBytes)
                .launch(
                        places(step, shape)
                                * heads.valueHeads()
                                * Launcher.cover(heads.valueSize(), DeltaSizes.COLUMNS),
                        1,
                        1,
                        THREADS);
    }

    /** Value heads of a key head that a block of single rows has: one, unless that gives blocks enough to fill the device. */
    private int headsOfBlock(DeltaHeads heads, int rows) {
        int together = heads.valueHeads() / heads.keyHeads();
        int most = Math.min(DeltaSizes.DECODE_HEADS, together);
        long fewest = (long) rows * heads.keyHeads() * Launcher.cover(together, most);
        return fewest >= BLOCKS_TO_FILL * (long) device.multiprocessors() ? most : 1;
    }

    /** A whole net in one kernel, if there is one for such rows; else it does nothing and says so. */
    public boolean deltaNet(StepMemory step, StepShape shape, DeltaNet net, CudaKvCache cache) {
        Kernel kernel = loaded().netDecode();
        if (kernel == null || !isFused(net, shape, cache)) {
            return false;
        }
        DeltaHeads heads = net.rule().heads();
        Convolution convolution = net.convolution();
        fastInputs(kernel, DeltaCall.of(net)).integer(1);
        pages(step, net.rule().group(), net.rule().layer(), cache)
                .pointer(convolution.weight())
                .integer(KernelNumbers.of(convolution.activation()))
                .integer(convolution.channels())
                .pointer(cache.address(convolution.group(), convolution.layer()))
                .wide(cache.pageElements(convolution.group()))
                .pointer(step.pageTable(convolution.group()))
                .integer(step.maxPages())
                .flag(net.norm().kind() == Norm.Kind.LAYER)
                .pointer(net.norm().weight())
                .number(net.norm().weightOffset())
                .pointer(net.norm().bias())
                .number(net.norm().epsilon())
                .rows(net.gates())
                .integer(KernelNumbers.of(net.gate().activation()))
                .number(net.gate().limit())
                .number(net.gate().upLimit())
                .number(net.gate().upOffset())
                .shared(DeltaSizes.netSharedBytes(heads))
                .launch((long) shape.rows() * heads.valueHeads(), 1, 1, DeltaSizes.decodeThreads(heads));
        return true;
    }

    private boolean isFused(DeltaNet net, StepShape shape, CudaKvCache cache) {
        DeltaHeads heads = net.rule().heads();
        return shape.isSingle()
                && net.rule().space() == null
                && DeltaSizes.areFast(heads, cache.pageTokens())
                && headsOfBlock(heads, shape.rows()) == 1
                && net.convolution().taps() == DeltaSizes.NET_TAPS
                && net.convolution().bias() == null
                && net.convolution().channels() == 2 * heads.keys() + heads.values()
                && net.heads().columns() == heads.valueSize()
                && CudaBuffer.isWhole(net.gates())
                && CudaBuffer.isWhole(net.attended());
    }

    private Launcher fastInputs(Kernel kernel, DeltaCall call) {
        DeltaHeads heads = call.rule().heads();
        return inputs(kernel, call)
                .integer(heads.keyHeads())
                .integer(heads.valueHeads())
                .integer(heads.valueSize())
                .flag(heads.takesTurns());
    }

    private void fastDeltaRule(StepMemory step, StepShape shape, DeltaCall call, CudaKvCache cache) {
        DeltaHeads heads = call.rule().heads();
        fastInputs(loaded().fast(call.rule(), shape.isSingle()), call);
        int together = heads.valueHeads() / heads.keyHeads();
        int headsOfBlock = headsOfBlock(heads, shape.rows());
        launcher.integer(shape.isSingle() ? headsOfBlock : shape.isFew() ? 1 : 0);
        pages(step, call.rule().group(), call.rule().layer(), cache);
        if (shape.isSingle()) {
            long blocks = (long) shape.rows() * heads.keyHeads() * Launcher.cover(together, headsOfBlock);
            launcher.shared(DeltaSizes.decodeSharedBytes(heads)).launch(blocks, 1, 1, DeltaSizes.decodeThreads(heads));
            return;
        }
        int tiles = heads.valueSize() / DeltaSizes.TILE;
        launcher.shared(DeltaSizes.ROWS_SHARED_BYTES)
                .launch(places(step, shape) * heads.valueHeads() * tiles, 1, 1, DeltaSizes.ROWS_THREADS);
    }

    /** The selective scan of a step's rows. */
    public void selectiveScan(StepMemory step, StepShape shape, ScanCall call, CudaKvCache cache) {
        SelectiveScan scan = call.scan();
        int sharedBytes = DeltaSizes.scanSharedBytes(scan.stateSize());
        if (sharedBytes > device.sharedMemory()) {
            throw new DeviceException("a selective scan with states of " + scan.stateSize() + " numbers needs "
                    + sharedBytes + " bytes of shared memory, and a block of " + device.name() + " has "
                    + device.sharedMemory() + ": run it on the CPU, with --device cpu");
        }
        launcher.of(loaded().selectiveScan())
                .rows(call.x())
                .rows(call.times())
                .rows(call.b())
                .rows(call.c())
                .pointer(CudaBuffer.address(scan.rate()))
                .pointer(CudaBuffer.address(scan.timeBias()))
                .pointer(CudaBuffer.address(scan.skip()))
                .rows(call.output())
                .integer(scan.channels())
                .integer(scan.stateSize())
                .flag(shape.isFew());
        pages(step, scan.group(), scan.layer(), cache)
                .shared(sharedBytes)
                .launch(places(step, shape) * Launcher.cover(scan.channels(), DeltaSizes.COLUMNS), 1, 1, THREADS);
    }

    /** Sequences, or, where recorded steps may come with others, rows. */
    private static long places(StepMemory step, StepShape shape) {
        return shape.isFew() ? shape.rows() : step.sequences();
    }

    private Launcher inputs(Kernel kernel, DeltaCall call) {
        DeltaRule.Space space = call.rule().space();
        return launcher.of(kernel)
                .rows(call.query())
                .rows(call.key())
                .rows(call.value())
                .rows(call.a())
                .rows(call.b())
                .pointer(CudaBuffer.address(call.rule().rate()))
                .pointer(CudaBuffer.address(call.rule().timeBias()))
                .pointer(space == null ? null : space.skip())
                .number(space == null ? 0 : space.shortest())
                .number(space == null ? 0 : space.longest())
                .number(call.rule().strength())
                .number(call.rule().heads().decaysByChannel() ? call.rule().least() : 0)
                .rows(call.output());
    }

    private Launcher pages(StepMemory step, int group, int layer, CudaKvCache cache) {
        return launcher.pointer(cache.address(group, layer))
                .wide(cache.pageElements(group))
                .integer(cache.pageTokens())
                .pointer(step.pageTable(group))
                .integer(step.maxPages())
                .pointer(step.rowSequence())
                .pointer(step.positions())
                .pointer(step.rowStart());
    }
}
