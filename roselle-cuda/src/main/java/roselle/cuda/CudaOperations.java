package roselle.cuda;

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
import roselle.cuda.adapter.LowRankKernels;
import roselle.cuda.attention.AttentionCall;
import roselle.cuda.attention.AttentionKernels;
import roselle.cuda.attention.CudaKvCache;
import roselle.cuda.gemm.Addition;
import roselle.cuda.gemm.CudaWeight;
import roselle.cuda.gemm.LinearKernels;
import roselle.cuda.row.RowKernels;
import roselle.cuda.state.DeltaCall;
import roselle.cuda.state.ScanCall;
import roselle.cuda.state.StateKernels;
import roselle.cuda.step.StepMemory;
import roselle.cuda.step.StepShape;
import roselle.tensor.DataType;

/** Operations on a GPU as launches of kernels; they fuse where a kernel takes these rows. */
final class CudaOperations implements Operations {
    private final RowKernels rowKernels;
    private final RowKernels floatKernels;
    private final LinearKernels products;
    private final AttentionKernels attention;
    private final StateKernels states;
    private final LowRankKernels adapters;
    private @Nullable StepMemory step;
    private StepShape shape = StepShape.NONE;

    CudaOperations(
            RowKernels rowKernels,
            RowKernels floatKernels,
            LinearKernels products,
            AttentionKernels attention,
            StateKernels states,
            LowRankKernels adapters) {
        this.rowKernels = rowKernels;
        this.floatKernels = floatKernels;
        this.products = products;
        this.attention = attention;
        this.states = states;
        this.adapters = adapters;
    }

    /** From here on they work on the step that was sent to this memory. */
    void begin(StepMemory sent) {
        step = sent;
        shape = sent.shape();
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
    public void addTypes(Weight table, Rows output) {
        products.embed((CudaWeight) table, step().types(), 1f, true, output, shape.rows());
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        rowKernels.norm(input, norm, output, rows);
    }

    @Override
    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        rowKernels.normHeads(input, norm, size, output, rows);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        rowKernels.addNormed(input, norm, scale, output, rows);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        if (shape.adaptation() != 0) { // what adapt() adds begins here, so that it does not hold up the step
            adapters.shrink(step(), shape, input, weight);
        }
        products.linear(input, (CudaWeight) weight, epilogue, output, rows);
    }

    @Override
    public void adapt(Rows input, Weight weight, float scale, Rows output) {
        adapters.add(step(), shape, input, weight, scale, output);
    }

    @Override
    public void adaptTable(Weight table, float scale, Rows output) {
        throw new UnsupportedOperationException("adapters change embeddings on the CPU");
    }

    @Override
    public void adaptLogits(Rows input, Weight weight, Rows output, int outputs) {
        throw new UnsupportedOperationException("adapters change logits on the CPU");
    }

    @Override
    public void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        throw new UnsupportedOperationException("adapters add to experts on the CPU");
    }

    @Override
    public void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs) {
        linear(input, weight, epilogue, output, outputs);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        if (!products.normedLinear(input, norm, (CudaWeight) weight, epilogue, output, rows)) {
            UnfusedOperations.normedLinear(this, input, norm, normed, weight, epilogue, output, rows);
        }
    }

    @Override
    public void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        if (!products.fusesGate(input, product, rows)) {
            UnfusedOperations.gatedLinear(this, input, norm, normed, product, rows);
            return;
        }
        if (norm == null) {
            products.gatedLinear(input, product, rows);
        } else if (!products.normedGatedLinear(input, norm, product, rows)) {
            norm(input, norm, normed, rows);
            products.gatedLinear(normed, product, rows);
        }
    }

    @Override
    public void adaptedGatedLinear(Rows input, GatedLinear product, int rows) {
        Addition addition = adapters.addition(step(), product.gateAndUp());
        if (!adapters.addTo(product.gateAndUp())) {
            gatedLinear(input, null, input, product, rows);
        } else if (addition != null && products.fusesAdaptedGate(input, product, rows)) {
            adapters.shrink(step(), shape, input, product.gateAndUp());
            products.adaptedGatedLinear(input, product, rows, addition);
        } else if (adapters.gates(product)) {
            linear(input, product.gateAndUp(), product.epilogue(), product.both(), rows);
            adapters.addAndGate(step(), shape, product);
        } else {
            UnfusedOperations.adaptedGatedLinear(this, input, product, rows);
        }
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
    public void compress(Compression compression, KvCache cache, Rows room) {
        throw new UnsupportedOperationException("attention to keys of several tokens runs on the CPU");
    }

    @Override
    public void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache) {
        throw new UnsupportedOperationException("attention to chosen positions runs on the CPU");
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        attention.attend(new AttentionCall(step(), shape, layer, (CudaKvCache) cache, query, output));
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        var call = new AttentionCall(step(), shape, layer, (CudaKvCache) cache, query, output);
        if (!layer.appends() || !attention.appendAndAttend(call, key, value)) {
            UnfusedOperations.appendAndAttend(this, query, key, value, layer, cache, output);
        }
    }

    @Override
    public void convolve(Rows input, Convolution convolution, KvCache cache, Rows output) {
        states.convolve(step(), shape, input, convolution, (CudaKvCache) cache, output);
    }

    @Override
    public void deltaRule(
            Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output) {
        states.deltaRule(step(), shape, new DeltaCall(query, key, value, a, b, rule, output), (CudaKvCache) cache);
    }

    @Override
    public void deltaNet(DeltaNet net, KvCache cache, int rows) {
        if (!states.deltaNet(step(), shape, net, (CudaKvCache) cache)) {
            UnfusedOperations.deltaNet(this, net, cache, rows);
        }
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        rowKernels.gate(gate, up, kind, output, rows);
    }

    @Override
    public void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        if (RowKernels.gatesNormed(gate, parts, output)) {
            rowKernels.gateNormed(gate, parts, norm, kind, output, rows);
        } else {
            UnfusedOperations.gateNormed(this, gate, parts, norm, kind, output, rows);
        }
    }

    @Override
    public void sparsify(Rows gates, float deviations, int rows) {
        rowKernels.sparsify(gates, deviations, rows);
    }

    @Override
    public void xielu(Rows numbers, Xielu kind, int rows) {
        rowKernels.xielu(numbers, kind, rows);
    }

    @Override
    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        rowKernels.mix(input, coefficients, width, output, rows);
    }

    @Override
    public void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output) {
        states.selectiveScan(step(), shape, new ScanCall(x, times, b, c, scan, output), (CudaKvCache) cache);
    }

    @Override
    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        rowKernels.connect(products, connection, coefficients, rows);
    }

    @Override
    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        rowKernels.addAsLongAs(input, like, output, rows);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        long tokens = router.ofTokens() == null ? 0 : step().tokenIds();
        products.route(logits, router, tokens, routing, rows);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        products.experts(input, linear, routing, output, rows);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        rowKernels.combineExperts(input, routing, scale, adds, output, rows);
    }

    @Override
    public void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        if (!products.feedExperts(input, experts, routing, sum, rows)) {
            UnfusedOperations.feedExperts(this, input, experts, routing, sum, rows);
        }
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
}
