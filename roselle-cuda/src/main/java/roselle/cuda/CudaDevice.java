package roselle.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.cuda.adapter.LowRankKernels;
import roselle.cuda.attention.AttentionKernels;
import roselle.cuda.attention.CudaKvCache;
import roselle.cuda.driver.Driver;
import roselle.cuda.gemm.Fp8Linear;
import roselle.cuda.gemm.LinearKernels;
import roselle.cuda.gemm.MmaLinear;
import roselle.cuda.gemm.WeightLoader;
import roselle.cuda.gemm.WeightRows;
import roselle.cuda.kernel.Cubins;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Cleanup;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.RowKernels;
import roselle.cuda.sampling.SampleKernels;
import roselle.cuda.state.StateKernels;
import roselle.cuda.step.Precedence;
import roselle.cuda.step.StepGraphs;
import roselle.cuda.step.StepMemory;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/**
 * An NVIDIA GPU as a device: rows in BF16, F16 or F32, one stream, and steps of few rows recorded as CUDA graphs.
 *
 * <p>Bits do not depend on the number of rows because no kernel's sums do; see the heads of the files in
 * {@code src/main/cuda}.
 */
public final class CudaDevice implements Device {
    private static final System.Logger LOG = System.getLogger(CudaDevice.class.getName());

    private final Gpu device;
    private final Precision precision;
    private final DataType type;
    private final Arena arena = Arena.ofShared();
    private final Launcher launcher;
    private final Kernels kernels;
    private final WeightLoader loader;
    private final RowKernels rowKernels;
    private final RowKernels floatKernels;
    private final LinearKernels products;
    private final AttentionKernels attention;
    private final StateKernels states;
    private final SampleKernels sampler;
    private final LowRankKernels adapters;
    private final CudaOperations operations;
    private final StepGraphs graphs;
    private final Precedence precedence;
    private final boolean goesFirst;
    private @Nullable StepMemory step;
    private long floats; // a place for float32 rows on their way
    private long floatBytes;

    /**
     * Opens a device.
     *
     * @param precision what it computes in
     * @param goesFirst whether its steps go before those of devices on the same GPU for which it is not so
     * @throws roselle.api.DeviceException if it cannot be used
     */
    CudaDevice(Driver driver, int index, Precision precision, Cubins cubins, boolean goesFirst) {
        this.precision = precision;
        type = precision.rows();
        this.goesFirst = goesFirst;
        precedence = Precedence.of(index);
        device = new Gpu(driver, index, goesFirst);
        kernels = new Kernels(device, cubins);
        try {
            cubins.begin(device.architecture());
            launcher = new Launcher(device, arena);
            rowKernels = new RowKernels(kernels, launcher, type);
            floatKernels = type == DataType.F32 ? rowKernels : new RowKernels(kernels, launcher, DataType.F32);
            var mma = new MmaLinear(kernels, launcher, type);
            Fp8Linear fp8 = precision.multipliesFp8() ? new Fp8Linear(device, kernels, type) : null;
            products = new LinearKernels(device, kernels, launcher, rowKernels, mma, fp8, type);
            attention = new AttentionKernels(device, kernels, launcher, type);
            loader = new WeightLoader(device, kernels, launcher, mma, fp8, type);
            sampler = new SampleKernels(device, kernels, launcher);
            states = new StateKernels(device, kernels, launcher, type);
            adapters = new LowRankKernels(device, kernels, launcher, type);
            operations = new CudaOperations(rowKernels, floatKernels, products, attention, states, adapters);
            graphs = new StepGraphs(device, launcher, operations);
        } catch (Throwable failure) {
            device.close(new Cleanup().then(kernels::close));
            arena.close();
            throw failure;
        }
    }

    /** A device of a model that writes. */
    CudaDevice(Driver driver, int index, DataType type, Cubins cubins) {
        this(driver, index, Precision.of(type), cubins, true);
    }

    @Override
    public String name() {
        return "cuda:" + device.index();
    }

    @Override
    public String describe() {
        return name() + ", " + device.name() + ", rows in " + type.label()
                + (precision.multipliesFp8() ? ", products with weights in FP8 in FP8" : "") + ", kernels for "
                + device.architecture();
    }

    @Override
    public List<Phase> phases() {
        var phases = new ArrayList<Phase>();
        phases.add(new Phase("context", device.contextNanos()));
        phases.add(kernels.phase());
        phases.addAll(loader.phases());
        return phases;
    }

    @Override
    public long restNanos(int rows, long stepNanos) {
        return goesFirst ? 0 : precedence.restNanos(rows, stepNanos, System.nanoTime());
    }

    @Override
    public int hostThreads() {
        return 0;
    }

    @Override
    public DataType activationType() {
        return type;
    }

    @Override
    public OptionalLong memoryBytes() {
        device.enter();
        return OptionalLong.of(Math.max(0, device.driver().memory().free() - loader.stagingBytes()));
    }

    @Override
    public Buffer allocate(DataType kind, long elements) {
        device.enter();
        long bytes = kind.rowBytes(elements);
        long address = device.memory().allocateScratch(bytes);
        device.driver().clear(address, bytes, device.stream());
        launcher.barrier();
        return new CudaBuffer(kind, elements, address);
    }

    @Override
    public Buffer constants(float[] values) {
        device.enter();
        launcher.barrier();
        return new CudaBuffer(DataType.F32, values.length, loader.constants(values));
    }

    @Override
    public Rows ones(int columns) {
        if (type == DataType.F32) {
            return Device.super.ones(columns);
        }
        var pairs = new float[(columns + 1) / 2]; // bits of two ones each
        Arrays.fill(pairs, Float.intBitsToFloat(type == DataType.BF16 ? 0x3F80_3F80 : 0x3C00_3C00));
        device.enter();
        launcher.barrier();
        return new Rows(new CudaBuffer(type, columns, loader.constants(pairs)), 0, columns, 0);
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        device.enter();
        launcher.barrier();
        return loader.load(name, matrices, rows(blocks));
    }

    @Override
    public long loadBytes(int matrices, List<StoredMatrix> blocks) {
        return loader.bytes(matrices, rows(blocks));
    }

    private static List<WeightRows> rows(List<StoredMatrix> blocks) {
        return blocks.stream().map(WeightRows::of).toList();
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        refuseOrdered(table);
        return load(name, 1, List.of(table));
    }

    /** Rows of a table are hidden states as they are. */
    private static void refuseOrdered(StoredMatrix table) {
        if (WeightRows.of(table).order() != null) {
            throw new DeviceException(
                    "tensor " + table.name() + " is a table of embeddings whose columns were quantized in an order"
                            + " of their own, which no kernel reads: take another file of the model, or the device cpu");
        }
    }

    @Override
    public long tableBytes(StoredMatrix table) {
        refuseOrdered(table);
        return loadBytes(1, List.of(table));
    }

    /** Where rows are of the type that kernels for few of them multiply. */
    @Override
    public boolean stacksSharedExperts() {
        return activationType() != DataType.F32;
    }

    @Override
    public boolean takesAdapters() {
        return true;
    }

    /** Its numbers go to the device with the first step that has it. */
    @Override
    public Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        var matrices = new ArrayList<LowRank>();
        for (AdapterPart part : parts) {
            matrices.add((LowRank) part); // which all are that it adapts
        }
        return adapters.pack(matrices);
    }

    @Override
    public List<KvType> kvTypes() {
        return KvType.all();
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, KvType kind, int pageTokens, int[] pages) {
        CudaKvCache cache = kvCache(groups, kind, pageTokens, pages);
        for (int group = 0; group < pages.length; group++) {
            cache.take(group, IntStream.range(0, pages[group]).toArray());
        }
        return cache;
    }

    private CudaKvCache kvCache(List<KvGroup> groups, KvType kind, int pageTokens, int[] pages) {
        if (kind == KvType.INT4) {
            LOG.log(System.Logger.Level.WARNING, "event=slow_kv_type type=int4 faster=fp8,int8");
        }
        device.enter();
        attention.reserve();
        states.reserve(groups);
        launcher.barrier();
        return new CudaKvCache(device, groups, kind, pageTokens, pages);
    }

    @Override
    public boolean givesPagesBack() {
        return device.memory().isElastic();
    }

    @Override
    public KvCache reserveKvCache(List<KvGroup> groups, KvType kind, int pageTokens, int[] pages) {
        return givesPagesBack()
                ? kvCache(groups, kind, pageTokens, pages)
                : allocateKvCache(groups, kind, pageTokens, pages);
    }

    /** The driver takes memory away at once, so steps that read the pages have to end first. */
    @Override
    public void givePagesBack(KvCache cache, int group, int[] pages) {
        device.enter();
        device.synchronize();
        ((CudaKvCache) cache).giveUp(group, pages);
    }

    @Override
    public void takePagesBack(KvCache cache, int group, int[] pages) {
        device.enter();
        launcher.barrier();
        ((CudaKvCache) cache).take(group, pages);
        launcher.barrier();
    }

    @Override
    public boolean sleeps() {
        return device.memory().isElastic();
    }

    @Override
    public void sleep() {
        device.enter();
        adapters.forget();
        sampler.forget();
        device.giveUp();
    }

    @Override
    public void wake() {
        device.enter();
        launcher.barrier();
        device.takeBack();
    }

    @Override
    public long stepBytes(StepDemands demands) {
        refuseSpecial(demands);
        return StepMemory.bytes(demands.limits(), demands.groups())
                + attention.stepBytes(demands)
                + products.stepBytes(demands, loader.orderedColumns())
                + sampler.stepBytes(demands)
                + stateBytes(demands);
    }

    private static void refuseSpecial(StepDemands demands) {
        if (!demands.special().isEmpty()) {
            throw new DeviceException("layers of this model have " + String.join(", ", demands.special())
                    + ", for which there are no kernels on GPUs: run it on the CPU, with --device cpu");
        }
    }

    /** Hidden states of a step's outputs on their way to the host. */
    private long stateBytes(StepDemands demands) {
        return type == DataType.F32 ? 0 : (long) demands.limits().maxOutputs() * demands.width() * Float.BYTES;
    }

    @Override
    public void prepare(StepDemands demands) {
        refuseSpecial(demands);
        device.enter();
        loader.finish();
        StepMemory memory = new StepMemory(device, new StepInputs(demands.limits(), demands.groups()));
        step = memory;
        attention.prepare(demands, memory);
        products.prepare(demands, loader.orderedColumns());
        sampler.prepare(demands);
        reserveFloats(stateBytes(demands));
    }

    @Override
    public void submit(StepInputs inputs, StepProgram program) {
        device.enter();
        if (goesFirst) {
            precedence.take(System.nanoTime());
        }
        StepMemory memory = stepMemory(inputs);
        memory.put(inputs, adapters.begin(inputs, memory.maxRows()));
        products.forgetRoutings();
        launcher.barrier();
        sampler.receive(memory, inputs);
        if (memory.shape().adaptation() != 0) {
            launcher.barrier(); // whose adapter a row has is read before kernels wait for those before them
        }
        operations.begin(memory);
        graphs.run(memory.shape(), inputs, program);
    }

    /** The memory of steps; where these inputs are of other sizes, in place of what there was. */
    private StepMemory stepMemory(StepInputs inputs) {
        StepMemory memory = step;
        if (memory != null && memory.fits(inputs)) {
            return memory;
        }
        loader.finish();
        graphs.forget();
        if (memory != null) {
            device.synchronize();
            memory.close();
        }
        memory = new StepMemory(device, inputs);
        step = memory;
        return memory;
    }

    @Override
    public boolean attendsBothWays() {
        return true;
    }

    @Override
    public boolean samples() {
        return true;
    }

    @Override
    public void launchSample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        device.enter();
        sampler.launch(logits, rows, tokens);
    }

    @Override
    public void collectSample(SampledTokens tokens) {
        device.enter();
        sampler.collect(tokens);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        device.enter();
        launcher.barrier();
        attention.copyPage((CudaKvCache) cache, group, from, to);
        launcher.barrier();
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        device.enter();
        long bytes = (long) rows * source.columns() * Float.BYTES;
        long address = RowKernels.row(source, firstRow);
        boolean isGapless = source.buffer().type() == DataType.F32 && source.stride() == source.columns();
        if (!isGapless) {
            reserveFloats(bytes);
            kernelsOf(source).toFloats(source, firstRow, floats, rows);
            address = floats;
        }
        device.driver().copyOut(target, address, bytes, device.stream());
        launcher.barrier();
        device.synchronize();
        if (step != null) {
            step.arrived();
        }
    }

    /** Integers travel as the float32 numbers of the same bits. */
    private RowKernels kernelsOf(Rows rows) {
        return rows.buffer().type() == type ? rowKernels : floatKernels;
    }

    private void reserveFloats(long bytes) {
        if (bytes > floatBytes) {
            floats = device.memory().allocateScratch(bytes);
            floatBytes = bytes;
        }
    }

    @Override
    public void close() {
        device.enter();
        device.close(new Cleanup().then(graphs::forget).then(kernels::close));
        arena.close();
    }
}
