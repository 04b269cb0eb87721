package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.SpareMemory;
import roselle.backend.memory.Weight;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.cpu.adapter.CpuAdapter;
import roselle.cpu.attention.PagedAttention;
import roselle.cpu.gemm.Gemm;
import roselle.cpu.machine.Processor;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.row.RowOperations;
import roselle.cpu.thread.WorkerPool;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** The CPU as a device: float32 rows in native memory, weights read in place, or in panels where machine code reads them. */
public final class CpuDevice implements Device {
    private static final StepInputs NO_STEP = new StepInputs(new StepLimits(1, 1, 1, 1, 1), 0);

    /** Bytes from which on memory is worth pages of its own. */
    private static final long LARGE = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final Step step = new Step(NO_STEP);
    private final MachineCode code;
    private final WorkerPool pool;
    private final Gemm products;
    private final PagedAttention attention;
    private final RowOperations rowOperations;
    private final CpuOperations operations;
    private long allocatedBytes;

    /** A device with a thread per core. */
    public CpuDevice() {
        this(CpuOptions.all());
    }

    /** A device with so many threads, the caller's included. */
    public CpuDevice(int threads) {
        this(CpuOptions.of(threads));
    }

    /**
     * A device with these options.
     *
     * @throws roselle.api.DeviceException if the path is not to be had on this machine
     */
    public CpuDevice(CpuOptions options) {
        this(options, MachineCode.open(options));
        NativeAccess.warnIfMissed(options);
    }

    /** A device with code that was opened, which it closes. */
    public CpuDevice(CpuOptions options, MachineCode opened) {
        code = opened;
        pool = new WorkerPool(options.threads());
        products = new Gemm(pool, code, arena);
        attention = new PagedAttention(pool, code, arena);
        rowOperations = new RowOperations(pool, code);
        operations = new CpuOperations(pool, step, products, attention, rowOperations);
    }

    @Override
    public String describe() {
        int threads = pool.threads();
        return "cpu, " + threads + (threads == 1 ? " thread" : " threads") + ", products: " + code.describe();
    }

    /** How a device with these options would multiply weights of these types, and why so. */
    public static String describe(CpuOptions options, Collection<DataType> types) {
        try (MachineCode code = MachineCode.open(options)) {
            return code.describe(types);
        }
    }

    /** Whether a device with these options could round to bfloat16: whether the path is to be had and multiplies it. */
    public static boolean rounds(CpuOptions options) {
        boolean isPath =
                options.path() == CpuPath.AUTO || options.path() == CpuPath.BF16 || options.path() == CpuPath.AMX;
        return isPath && paths().contains(CpuPath.BF16);
    }

    /** The paths that this machine offers, the slowest first. */
    public static List<CpuPath> paths() {
        return MachineCode.paths(Processor.probe());
    }

    /** How a device with these options would compute products, and why so. */
    public static String describe(CpuOptions options) {
        try (MachineCode code = MachineCode.open(options)) {
            return code.describe();
        }
    }

    /** Native memory that it has taken so far for weights, rows and pages; {@link #ownBytes} come to that. */
    public long allocatedBytes() {
        return allocatedBytes;
    }

    /** Native memory that it and its threads have taken so far for buffers between an operation's parts. */
    public long ownBytes() {
        return products.bytes() + attention.bytes();
    }

    @Override
    public int hostThreads() {
        return pool.threads();
    }

    @Override
    public long stepBytes(StepDemands demands) {
        var groups = new ArrayList<KvGroup>();
        for (StepDemands.Attention each : demands.attentions()) {
            groups.add(each.group());
        }
        return products.mostBytes(demands.columns()) + attention.bytes(groups);
    }

    /** Nothing: weights, rows and pages have taken it already. */
    @Override
    public void prepare(StepDemands demands) {}

    /** What its steps run. */
    public CpuOperations operations() {
        return operations;
    }

    /** The machine code that its GEMMs and its attention run. */
    public MachineCode machineCode() {
        return code;
    }

    /** The threads that this device started. */
    Thread[] workers() {
        return pool.owned();
    }

    @Override
    public String name() {
        return "cpu";
    }

    @Override
    public DataType activationType() {
        return DataType.F32;
    }

    @Override
    public List<Phase> phases() {
        return List.of();
    }

    @Override
    public boolean attendsBothWays() {
        return true;
    }

    /** Rows and pages are the machine's memory, and weights are read in place. */
    @Override
    public OptionalLong memoryBytes() {
        return OptionalLong.empty();
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        long bytes = type.rowBytes(elements);
        allocatedBytes += bytes;
        return new CpuBuffer(type, elements, memory(bytes));
    }

    /** Where the system gives large pieces page by page, it takes them so, too. */
    private boolean isOwned(long bytes) {
        return bytes >= LARGE && code.isThere();
    }

    /** Zeroed memory; where the system gives large pieces page by page, nobody waits for what is not used yet. */
    private MemorySegment memory(long bytes) {
        return isOwned(bytes) ? code.memory().allocate(bytes) : arena.allocate(bytes, 64);
    }

    @Override
    public Buffer constants(float[] values) {
        Buffer buffer = allocate(DataType.F32, values.length);
        MemorySegment.copy(values, 0, CpuBuffer.of(buffer), JAVA_FLOAT, 0, values.length);
        return buffer;
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        return reserved(new CpuWeight(name, 1, List.of(table)));
    }

    @Override
    public long tableBytes(StoredMatrix table) {
        return 0;
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        var weight = new CpuWeight(name, matrices, blocks, code.compute(blocks));
        if (code.takes(blocks)) {
            weight.pack(pool, code);
            code.use(weight.compute());
            allocatedBytes += weight.packedBytes();
        }
        return reserved(weight);
    }

    private Weight reserved(CpuWeight weight) {
        products.reserve(weight);
        rowOperations.reserve(weight.columns());
        return weight;
    }

    @Override
    public long loadBytes(int matrices, List<StoredMatrix> blocks) {
        return code.takes(blocks) ? new CpuWeight("planned", matrices, blocks, code.compute(blocks)).packedBytes() : 0;
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
        return true;
    }

    @Override
    public Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        return CpuAdapter.of(parts);
    }

    @Override
    public void shareSpare(SpareMemory spare) {
        code.memory().share(spare);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        for (KvGroup group : groups) {
            if (!group.isState()) {
                attention.reserve(group);
            }
        }
        var cache = new CpuKvCache(this::memory, groups, type, pageTokens, pages);
        allocatedBytes += cache.bytes();
        return cache;
    }

    @Override
    public boolean givesPagesBack() {
        return code.isThere();
    }

    /** Small caches keep theirs: what they would give back is less than what the system's pages round up. */
    @Override
    public void givePagesBack(KvCache cache, int group, int[] pages) {
        var kept = (CpuKvCache) cache;
        if (isOwned(kept.segment(group).byteSize())) {
            kept.discard(group, pages);
        }
    }

    /** Nothing to do: the system gives memory again when somebody writes there. */
    @Override
    public void takePagesBack(KvCache cache, int group, int[] pages) {}

    @Override
    public void submit(StepInputs inputs, StepProgram program) {
        step.begin(inputs);
        operations.begin();
        program.run(operations, inputs);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        ((CpuKvCache) cache).copyPage(group, from, to);
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        long bytes = (long) source.columns() * Float.BYTES;
        for (int r = 0; r < rows; r++) {
            long at = CpuBuffer.row(source, firstRow + r) * Float.BYTES;
            MemorySegment.copy(CpuBuffer.of(source), at, target, r * bytes, bytes);
        }
    }

    @Override
    public void close() {
        pool.close();
        code.close();
        arena.close();
    }
}
