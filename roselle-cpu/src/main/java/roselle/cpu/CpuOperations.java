package roselle.cpu;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.PositionIndex;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.operation.UnfusedOperations;
import roselle.backend.operation.Xielu;
import roselle.cpu.adapter.LowRankProducts;
import roselle.cpu.attention.PagedAttention;
import roselle.cpu.attention.PositionChoice;
import roselle.cpu.gemm.Gemm;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.Step;
import roselle.cpu.row.Compressing;
import roselle.cpu.row.LogitScaling;
import roselle.cpu.row.RowOperations;
import roselle.cpu.row.RowSums;
import roselle.cpu.row.Streams;
import roselle.cpu.row.TableRows;
import roselle.cpu.state.ChannelConvolution;
import roselle.cpu.state.DeltaRules;
import roselle.cpu.state.SelectiveScans;
import roselle.cpu.thread.WorkerPool;

/** Operations on the CPU: each ends before it returns, and none is fused with another. */
public final class CpuOperations implements Operations {
    private final Step step;
    private final Gemm products;
    private final PagedAttention attention;
    private final RowOperations rowOperations;
    private final TableRows tableRows = new TableRows();
    private final RowSums sums = new RowSums();
    private final Streams streams = new Streams();
    private final Compressing compressing = new Compressing();
    private final LogitScaling logitScaling;
    private final ChannelConvolution convolutions;
    private final DeltaRules deltaRules;
    private final SelectiveScans selectiveScans;
    private final PositionChoice positionChoice;
    private final LowRankProducts lowRankProducts;

    /** Operations of the step that is the current one. */
    CpuOperations(WorkerPool pool, Step step, Gemm products, PagedAttention attention, RowOperations rowOperations) {
        this.step = step;
        this.products = products;
        this.attention = attention;
        this.rowOperations = rowOperations;
        logitScaling = new LogitScaling(pool);
        convolutions = new ChannelConvolution(pool);
        deltaRules = new DeltaRules(pool);
        selectiveScans = new SelectiveScans(pool);
        positionChoice = new PositionChoice(pool);
        lowRankProducts = new LowRankProducts(pool);
    }

    /** The step's inputs are the current ones. */
    void begin() {
        if (step.inputs().adapts) {
            lowRankProducts.begin(step.inputs());
        }
    }

    @Override
    public void adapt(Rows input, Weight weight, float scale, Rows output) {
        lowRankProducts.add(input, weight, scale, output);
    }

    @Override
    public void adaptTable(Weight table, float scale, Rows output) {
        lowRankProducts.changeTable(table, step.inputs().tokenIds, scale, output);
    }

    @Override
    public void adaptLogits(Rows input, Weight weight, Rows output, int outputs) {
        lowRankProducts.changeLogits(input, weight, output);
    }

    @Override
    public void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        lowRankProducts.addToExperts(input, linear, routing, output);
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
    public void addTypes(Weight table, Rows output) {
        tableRows.of((CpuWeight) table, step.inputs().types, 1f, true, output);
        rowOperations.run(tableRows, output.columns(), step.rows());
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        rowOperations.norm(input, norm, output, 1f, false, rows);
    }

    @Override
    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        rowOperations.normHeads(input, norm, size, output, rows);
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
    public void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs) {
        products.logits(input, (CpuWeight) weight, epilogue, output, outputs, step.inputs().wanted);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        UnfusedOperations.normedLinear(this, input, norm, normed, weight, epilogue, output, rows);
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
    public void compress(Compression compression, KvCache cache, Rows room) {
        rowOperations.run(
                compressing.of(step, compression, (CpuKvCache) cache, room), compression.given(), step.rows());
    }

    @Override
    public void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache) {
        positionChoice.choose(step, query, weights, index, (CpuKvCache) cache);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        attention.attend(step, query, layer, (CpuKvCache) cache, output);
        if (layer.traits().turnsEnds()) {
            rowOperations.turnBack(step, output, layer);
        }
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        UnfusedOperations.appendAndAttend(this, query, key, value, layer, cache, output);
    }

    @Override
    public void convolve(Rows input, Convolution convolution, KvCache cache, Rows output) {
        convolutions.run(step, input, convolution, (CpuKvCache) cache, output);
    }

    @Override
    public void deltaRule(
            Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output) {
        deltaRules.of(query, key, value).gatedBy(a, b).run(step, rule, (CpuKvCache) cache, output);
    }

    @Override
    public void deltaNet(DeltaNet net, KvCache cache, int rows) {
        UnfusedOperations.deltaNet(this, net, cache, rows);
    }

    @Override
    public void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output) {
        selectiveScans.of(x, times, b, c).run(step, scan, (CpuKvCache) cache, output);
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        rowOperations.gate(gate, up, kind, output, rows);
    }

    @Override
    public void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        UnfusedOperations.gateNormed(this, gate, parts, norm, kind, output, rows);
    }

    @Override
    public void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        UnfusedOperations.gatedLinear(this, input, norm, normed, product, rows);
    }

    @Override
    public void adaptedGatedLinear(Rows input, GatedLinear product, int rows) {
        UnfusedOperations.adaptedGatedLinear(this, input, product, rows);
    }

    @Override
    public void sparsify(Rows gates, float deviations, int rows) {
        rowOperations.run(streams.sparse(gates, deviations), gates.columns(), rows);
    }

    @Override
    public void xielu(Rows numbers, Xielu kind, int rows) {
        rowOperations.run(streams.trained(numbers, kind), numbers.columns(), rows);
    }

    @Override
    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        rowOperations.run(streams.mixed(input, coefficients, width, output), width, rows);
    }

    @Override
    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        rowOperations.run(streams.connected(products, connection, coefficients), products.columns(), rows);
    }

    @Override
    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        rowOperations.run(streams.asLongAs(input, like, output), output.columns(), rows);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        rowOperations.route(logits, router, routing, step.inputs().tokenIds, rows);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        products.experts(input, linear, routing, output, rows);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        rowOperations.run(sums.experts(input, routing, scale, adds, output), output.columns(), rows);
    }

    @Override
    public void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        UnfusedOperations.feedExperts(this, input, experts, routing, sum, rows);
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
}
