package roselle.execution;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Routing;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** A device that tells which matrices it loads and what they are multiplied with. */
final class RecordingDevice implements Device {
    private final Device device;
    private final BiConsumer<Weight, List<StoredMatrix>> loaded;
    private final Inputs inputs;

    /** Who is told of each product before it is computed. */
    interface Inputs {
        void of(Weight weight, Rows input, int rows);

        /**
         * Of the chosen matrices of a stack.
         *
         * @param isSpread whether the input has a row for each choice, else one for each token
         */
        void ofExperts(Weight weight, Rows input, boolean isSpread, Routing routing, int rows);
    }

    RecordingDevice(Device device, BiConsumer<Weight, List<StoredMatrix>> loaded, Inputs inputs) {
        this.device = device;
        this.loaded = loaded;
        this.inputs = inputs;
    }

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public String describe() {
        return device.describe();
    }

    @Override
    public int hostThreads() {
        return device.hostThreads();
    }

    @Override
    public List<Phase> phases() {
        return device.phases();
    }

    @Override
    public DataType activationType() {
        return device.activationType();
    }

    @Override
    public OptionalLong memoryBytes() {
        return device.memoryBytes();
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        return device.allocate(type, elements);
    }

    @Override
    public Buffer constants(float[] values) {
        return device.constants(values);
    }

    @Override
    public Rows ones(int columns) {
        return device.ones(columns);
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        Weight weight = device.load(name, matrices, blocks);
        loaded.accept(weight, blocks);
        return weight;
    }

    @Override
    public long loadBytes(int matrices, List<StoredMatrix> blocks) {
        return device.loadBytes(matrices, blocks);
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        return device.loadTable(name, table);
    }

    @Override
    public long tableBytes(StoredMatrix table) {
        return device.tableBytes(table);
    }

    @Override
    public List<KvType> kvTypes() {
        return device.kvTypes();
    }

    @Override
    public boolean takesAdapters() {
        return device.takesAdapters();
    }

    @Override
    public boolean adapts(AdapterPart.Use use) {
        return device.adapts(use);
    }

    @Override
    public Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        return device.allocateAdapter(parts);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        return device.allocateKvCache(groups, type, pageTokens, pages);
    }

    @Override
    public long stepBytes(StepDemands demands) {
        return device.stepBytes(demands);
    }

    @Override
    public void prepare(StepDemands demands) {
        device.prepare(demands);
    }

    @Override
    public void submit(StepInputs step, StepProgram program) {
        device.submit(step, (operations, given) -> program.run(new RecordingOperations(operations, inputs), given));
    }

    @Override
    public boolean attendsBothWays() {
        return device.attendsBothWays();
    }

    @Override
    public boolean samples() {
        return device.samples();
    }

    @Override
    public void sample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        device.sample(logits, rows, tokens);
    }

    @Override
    public void launchSample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        device.launchSample(logits, rows, tokens);
    }

    @Override
    public void collectSample(SampledTokens tokens) {
        device.collectSample(tokens);
    }

    @Override
    public KvCache reserveKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        return device.reserveKvCache(groups, type, pageTokens, pages);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        device.copyPage(cache, group, from, to);
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        device.read(source, firstRow, rows, target);
    }

    @Override
    public void close() {
        device.close();
    }
}
