package roselle.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.backend.AttentionLayer;
import roselle.backend.Backend;
import roselle.backend.Buffer;
import roselle.backend.Epilogue;
import roselle.backend.ExpertLinear;
import roselle.backend.Gate;
import roselle.backend.GatedLinear;
import roselle.backend.KvCache;
import roselle.backend.KvGroup;
import roselle.backend.Norm;
import roselle.backend.Phase;
import roselle.backend.Router;
import roselle.backend.Routing;
import roselle.backend.Rows;
import roselle.backend.SampledTokens;
import roselle.backend.SamplingRows;
import roselle.backend.StepDemands;
import roselle.backend.StepInputs;
import roselle.backend.Weight;
import roselle.cuda.driver.Driver;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * An NVIDIA GPU as a device: rows in BF16, F16 or F32, one stream, and steps of few rows recorded as CUDA graphs.
 *
 * <p>Bits do not depend on the number of rows because no kernel's sums do; see the heads of the files in
 * {@code src/main/cuda}.
 */
public final class CudaBackend implements Backend {
    private final Device device;
    private final DataType type;
    private final Arena arena = Arena.ofShared();
    private final Launcher launcher;
    private final Kernels kernels;
    private final WeightLoader loader;
    private final RowKernels rowKernels;
    private final RowKernels floatKernels;
    private final LinearKernels products;
    private final AttentionKernels attention;
    private final SampleKernels sampler;
    private final StepGraphs graphs;
    private @Nullable StepMemory step;
    private StepShape shape = new StepShape(0, 0, true, false, 0);
    private long floats; // a place for float32 rows on their way
    private long floatBytes;

    /**
     * Opens a device.
     *
     * @param type of the rows between operations: BF16, F16, or F32 to verify
     * @throws roselle.api.DeviceException if it cannot be used
     */
    CudaBackend(Driver driver, int index, DataType type, Cubins cubins) {
        this.type = type;
        device = new Device(driver, index);
        kernels = new Kernels(device, cubins);
        try {
            launcher = new Launcher(device, arena);
            rowKernels = new RowKernels(kernels, launcher, type);
            floatKernels = type == DataType.F32 ? rowKernels : new RowKernels(kernels, launcher, DataType.F32);
            var mma = new MmaLinear(kernels, launcher, type);
            products = new LinearKernels(device, kernels, launcher, rowKernels, mma, type);
            attention = new AttentionKernels(device, kernels, launcher, type);
            loader = new WeightLoader(device, kernels, launcher, mma, type);
            sampler = new SampleKernels(device, kernels, launcher);
            graphs = new StepGraphs(device, launcher);
        } catch (Throwable failure) {
            device.close(new Cleanup().then(kernels::close));
            arena.close();
            throw failure;
        }
    }

    @Override
    public String name() {
        return "cuda:" + device.index();
    }

    @Override
    public String describe() {
        return name() + ", " + device.name() + ", rows in " + type.label() + ", kernels for " + device.architecture();
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
        long address = device.memory().allocate(bytes);
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
    public Weight load(String name, int matrices, List<Tensor> blocks) {
        device.enter();
        launcher.barrier();
        return loader.load(name, matrices, blocks);
    }

    @Override
    public long loadBytes(int matrices, List<Tensor> blocks) {
        return loader.bytes(matrices, blocks);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, DataType kind, int pageTokens, int[] pages) {
        device.enter();
        attention.reserve();
        launcher.barrier();
        return new CudaKvCache(device, groups, kind, pageTokens, pages);
    }

    @Override
    public long stepBytes(StepDemands demands) {
        return StepMemory.bytes(demands.limits(), demands.groups())
                + attention.stepBytes(demands)
                + products.stepBytes(demands)
                + sampler.stepBytes(demands)
                + stateBytes(demands);
    }

    /** Hidden states of a step's outputs on their way to the host. */
    private long stateBytes(StepDemands demands) {
        return type == DataType.F32 ? 0 : (long) demands.limits().maxOutputs() * demands.width() * Float.BYTES;
    }

    @Override
    public void prepare(StepDemands demands) {
        device.enter();
        loader.finish();
        StepMemory memory = new StepMemory(device, new StepInputs(demands.limits(), demands.groups()));
        step = memory;
        attention.prepare(demands, memory);
        products.prepare(demands);
        sampler.prepare(demands);
        reserveFloats(stateBytes(demands));
    }

    @Override
    public void begin(StepInputs inputs) {
        device.enter();
        StepMemory memory = step;
        if (memory == null || !memory.fits(inputs)) {
            loader.finish();
            graphs.forget();
            if (memory != null) {
                device.synchronize();
                memory.close();
            }
            memory = new StepMemory(device, inputs);
            step = memory;
        }
        memory.send(inputs);
        products.forgetRoutings();
        launcher.barrier();
        if (inputs.takesSampled) {
            sampler.take(memory, inputs.rows);
        }
        shape = memory.shape();
    }

    @Override
    public void step(StepInputs inputs, Consumer<StepInputs> operations) {
        begin(inputs);
        graphs.run(shape, inputs, operations);
    }

    private StepMemory step() {
        if (step == null) {
            throw new IllegalStateException("no step was begun");
        }
        return step;
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        products.embed((CudaWeight) table, step().tokenIds(), scale, false, output, shape.rows());
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        products.embed((CudaWeight) table, step().positions(), 1f, true, output, shape.rows());
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        rowKernels.norm(input, norm, output, rows);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        rowKernels.addNormed(input, norm, scale, output, rows);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        products.linear(input, (CudaWeight) weight, epilogue, output, rows);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        if (!products.normedLinear(input, norm, (CudaWeight) weight, epilogue, output, rows)) {
            norm(input, norm, normed, rows);
            linear(normed, weight, epilogue, output, rows);
        }
    }

    @Override
    public void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        if (!products.fusesGate(input, product, rows)) {
            Backend.super.gatedLinear(input, norm, normed, product, rows);
            return;
        }
        if (norm != null) {
            norm(input, norm, normed, rows);
        }
        products.gatedLinear(norm == null ? input : normed, product, rows);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        products.heads(input, (CudaWeight) weight, output, rows);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        attention.append(step(), shape.rows(), query, key, value, layer, (CudaKvCache) cache);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        attention.appendLatent(step(), shape.rows(), query, latent, absorbed, layer, (CudaKvCache) cache);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        attention.attend(new AttentionCall(step(), shape, layer, (CudaKvCache) cache, query, output));
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        var call = new AttentionCall(step(), shape, layer, (CudaKvCache) cache, query, output);
        if (!attention.appendAndAttend(call, key, value)) {
            ropeAndAppendKv(query, key, value, layer, cache);
            attention(query, layer, cache, output);
        }
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        rowKernels.gate(gate, up, kind, output, rows);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        products.route(logits, router, routing, rows);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        products.experts(input, linear, routing, output, rows);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, Rows output, int rows) {
        rowKernels.combineExperts(input, routing, scale, output, rows);
    }

    @Override
    public void addScaled(Rows input, float scale, Rows output, int rows) {
        rowKernels.addScaled(input, scale, output, rows);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        rowKernels.addGated(input, gate, scale, output, rows);
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        rowKernels.gather(input, step().outputRow(), output, shape.outputs());
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        (logits.buffer().type() == DataType.F32 ? floatKernels : rowKernels).scaleLogits(logits, scale, softCap, rows);
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
    public void write(MemorySegment source, Rows target, int firstRow, int rows) {
        device.enter();
        long bytes = (long) rows * target.columns() * Float.BYTES;
        reserveFloats(bytes);
        products.forgetRoutings();
        device.driver().copyIn(floats, source, bytes, device.stream());
        launcher.barrier();
        kernelsOf(target).fromFloats(floats, target, firstRow, rows);
        device.synchronize();
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
            floats = device.memory().allocate(bytes);
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
