package roselle.backend.reference;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
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
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** Rows in float32 on the heap, computed number by number in float64, on the thread that asks. */
public final class ReferenceDevice implements Device {
    private final Set<AdapterPart.Use> adapted;

    /** One whose adapters change all that they can. */
    public ReferenceDevice() {
        this(AdapterPart.Use.values());
    }

    /** One whose adapters change these uses of weights alone. */
    public ReferenceDevice(AdapterPart.Use... adapted) {
        this.adapted = Set.of(adapted);
    }

    @Override
    public String name() {
        return "reference";
    }

    @Override
    public String describe() {
        return name();
    }

    @Override
    public List<Phase> phases() {
        return List.of();
    }

    @Override
    public int hostThreads() {
        return 1;
    }

    @Override
    public boolean attendsBothWays() {
        return true;
    }

    @Override
    public DataType activationType() {
        return DataType.F32;
    }

    @Override
    public OptionalLong memoryBytes() {
        return OptionalLong.empty();
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        return new ReferenceBuffer(type, new float[Math.toIntExact(elements)]);
    }

    @Override
    public Buffer constants(float[] values) {
        return new ReferenceBuffer(DataType.F32, values.clone());
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        return ReferenceWeight.of(name, matrices, blocks);
    }

    @Override
    public long loadBytes(int matrices, List<StoredMatrix> blocks) {
        return 0;
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        return load(name, 1, List.of(table));
    }

    @Override
    public long tableBytes(StoredMatrix table) {
        return 0;
    }

    @Override
    public List<KvType> kvTypes() {
        return KvType.all();
    }

    @Override
    public boolean takesAdapters() {
        return true;
    }

    @Override
    public boolean adapts(AdapterPart.Use use) {
        return adapted.contains(use);
    }

    @Override
    public Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        return ReferenceAdapter.of(parts);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        return new ReferenceCache(groups, type, pageTokens, pages);
    }

    @Override
    public long stepBytes(StepDemands demands) {
        return 0;
    }

    /** Nothing: it takes memory when it needs some. */
    @Override
    public void prepare(StepDemands demands) {}

    @Override
    public void submit(StepInputs inputs, StepProgram program) {
        program.run(new ReferenceOperations(inputs), inputs);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        ((ReferenceCache) cache).copyPage(group, from, to);
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        for (int r = 0; r < rows; r++) {
            float[] row = ReferenceBuffer.row(source, firstRow + r);
            MemorySegment.copy(row, 0, target, JAVA_FLOAT, (long) r * row.length * Float.BYTES, row.length);
        }
    }

    @Override
    public void close() {}
}
