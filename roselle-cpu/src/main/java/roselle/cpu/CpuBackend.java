package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import roselle.backend.AttentionLayer;
import roselle.backend.Backend;
import roselle.backend.Buffer;
import roselle.backend.Epilogue;
import roselle.backend.ExpertLinear;
import roselle.backend.Gate;
import roselle.backend.KvCache;
import roselle.backend.KvGroup;
import roselle.backend.Norm;
import roselle.backend.Router;
import roselle.backend.Routing;
import roselle.backend.Rows;
import roselle.backend.StepDemands;
import roselle.backend.StepInputs;
import roselle.backend.StepLimits;
import roselle.backend.Weight;
import roselle.cpu.machine.Processor;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/** The CPU as a device: float32 rows in native memory, weights read in place, or in panels where machine code reads them. */
public final class CpuBackend implements Backend {
    private static final StepInputs NO_STEP = new StepInputs(new StepLimits(1, 1, 1, 1, 1), 0);

    /** Bytes from which on memory is worth pages of its own. */
    private static final long LARGE = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final Step step = new Step(NO_STEP);
    private final MachineCode code;
    private final WorkerPool pool;
    private final Products products;
    private final PagedAttention attention;
    private final RowOperations rowOperations;
    private final TableRows tableRows = new TableRows();
    private final RowSums sums = new RowSums();
    private final LogitScaling logitScaling;
    private long allocatedBytes;

    /** A backend with a thread per core. */
    public CpuBackend() {
        this(CpuOptions.all());
    }

    /** A backend with so many threads, the caller's included. */
    public CpuBackend(int threads) {
        this(CpuOptions.of(threads));
    }

    /**
     * A backend with these options.
     *
     * @throws roselle.api.DeviceException if the path is not to be had on this machine
     */
    public CpuBackend(CpuOptions options) {
        this(options, MachineCode.open(options));
    }

    /** A backend with code that was opened, which it closes. */
    CpuBackend(CpuOptions options, MachineCode opened) {
        code = opened;
        pool = new WorkerPool(options.threads());
        products = new Products(pool, code, arena);
        attention = new PagedAttention(pool, code, arena);
        rowOperations = new RowOperations(pool);
        logitScaling = new LogitScaling(pool);
    }

    @Override
    public String describe() {
        int threads = pool.threads();
        return "cpu, " + threads + (threads == 1 ? " thread" : " threads") + ", products: " + code.describe();
    }

    /** How a backend with these options would multiply weights of these types, and why so. */
    public static String describe(CpuOptions options, Collection<DataType> types) {
        try (MachineCode code = MachineCode.open(options)) {
            return code.describe(types);
        }
    }

    /** Whether a backend with these options could round to bfloat16: whether the path is to be had and multiplies it. */
    public static boolean rounds(CpuOptions options) {
        boolean isPath =
                options.path() == CpuPath.AUTO || options.path() == CpuPath.BF16 || options.path() == CpuPath.AMX;
        return isPath && paths().contains(CpuPath.BF16);
    }

    /** The paths that this machine offers, the slowest first. */
    public static List<CpuPath> paths() {
        return MachineCode.paths(Processor.probe());
    }

    /** How a backend with these options would compute products, and why so. */
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

    /** The threads that this backend started. */
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
    public Buffer allocate(DataType type, long elements) {
        long bytes = type.rowBytes(elements);
        allocatedBytes += bytes;
        return new CpuBuffer(type, elements, memory(bytes));
    }

    /** Zeroed memory; where the system gives large pieces page by page, nobody waits for what is not used yet. */
    private MemorySegment memory(long bytes) {
        return bytes >= LARGE && code.isThere() ? code.memory().allocate(bytes) : arena.allocate(bytes, 64);
    }

    @Override
    public Buffer constants(float[] values) {
        Buffer buffer = allocate(DataType.F32, values.length);
        MemorySegment.copy(values, 0, CpuBuffer.of(buffer), JAVA_FLOAT, 0, values.length);
        return buffer;
    }

    @Override
    public Weight loadTable(String name, Tensor table) {
        return reserved(new CpuWeight(name, 1, List.of(table)));
    }

    @Override
    public long tableBytes(Tensor table) {
        return 0;
    }

    @Override
    public Weight load(String name, int matrices, List<Tensor> blocks) {
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
    public long loadBytes(int matrices, List<Tensor> blocks) {
        return code.takes(blocks) ? new CpuWeight("planned", matrices, blocks, code.compute(blocks)).packedBytes() : 0;
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, DataType type, int pageTokens, int[] pages) {
        for (KvGroup group : groups) {
            attention.reserve(group);
        }
        var cache = new CpuKvCache(this::memory, groups, type, pageTokens, pages);
        allocatedBytes += cache.bytes();
        return cache;
    }

    @Override
    public void begin(StepInputs inputs) {
        step.begin(inputs);
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        tableRows.of((CpuWeight) table, step.inputs().tokenIds, scale, false, output);
        rowOperations.run(tableRows, output.columns(), step.rows());
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        tableRows.of((CpuWeight) table, step.inputs().positions, 1f, true, output);
        rowOperations.run(tableRows, output.columns(), step.rows());
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        rowOperations.norm(input, norm, output, 1f, false, rows);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        rowOperations.norm(input, norm, output, scale, true, rows);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        products.linear(input, (CpuWeight) weight, epilogue, output, rows);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        products.heads(input, (CpuWeight) weight, output, rows);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        rowOperations.ropeAndAppend(step, query, key, value, layer, (CpuKvCache) cache);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        rowOperations.ropeAndAppendLatent(step, query, latent, absorbed, layer, (CpuKvCache) cache);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        attention.attend(step, query, layer, (CpuKvCache) cache, output);
    }

    /** The scalar twin of {@link #attention}, for one row. */
    void attendScalar(Step now, Rows query, AttentionLayer layer, CpuKvCache cache, Rows output, int row) {
        if (attention.isMachine(cache.groups().get(layer.group()))) {
            for (int head = 0; head < layer.heads().queryHeads(); head++) {
                PanelAttention.scalar(code, now, query, layer, cache, output, row, head);
            }
        } else {
            Attention.scalar(
                    now, query, layer, cache, output, row, 0, layer.heads().queryHeads());
        }
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        rowOperations.gate(gate, up, kind, output, rows);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        rowOperations.route(logits, router, routing, rows);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        products.experts(input, linear, routing, output, rows);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, Rows output, int rows) {
        rowOperations.run(sums.experts(input, routing, scale, output), output.columns(), rows);
    }

    @Override
    public void addScaled(Rows input, float scale, Rows output, int rows) {
        rowOperations.run(sums.scaled(input, scale, output), output.columns(), rows);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        rowOperations.run(sums.gated(input, gate, scale, output), output.columns(), rows);
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        int[] outputRow = step.inputs().outputRow;
        for (int i = 0; i < step.inputs().outputs; i++) {
            copyRow(input, outputRow[i], output, i);
        }
    }

    private static void copyRow(Rows input, int from, Rows output, int to) {
        long source = CpuBuffer.row(input, from) * Float.BYTES;
        long target = CpuBuffer.row(output, to) * Float.BYTES;
        MemorySegment.copy(
                CpuBuffer.of(input), source, CpuBuffer.of(output), target, (long) output.columns() * Float.BYTES);
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        logitScaling.scale(logits, scale, softCap, rows);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        ((CpuKvCache) cache).copyPage(group, from, to);
    }

    @Override
    public void write(MemorySegment source, Rows target, int firstRow, int rows) {
        long bytes = (long) target.columns() * Float.BYTES;
        for (int r = 0; r < rows; r++) {
            long at = CpuBuffer.row(target, firstRow + r) * Float.BYTES;
            MemorySegment.copy(source, r * bytes, CpuBuffer.of(target), at, bytes);
        }
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
