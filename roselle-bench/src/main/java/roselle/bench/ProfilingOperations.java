package roselle.bench;

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
import roselle.backend.operation.Xielu;
import roselle.bench.StepProfile.Kind;

/** Operations that end before they return, with a watch around each of them. */
final class ProfilingOperations implements Operations {
    private final Operations operations;
    private final StepProfile profile;

    ProfilingOperations(Operations operations, StepProfile profile) {
        this.operations = operations;
        this.profile = profile;
    }

    private void end(Kind kind, long start) {
        profile.add(kind, System.nanoTime() - start);
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        long start = System.nanoTime();
        operations.embed(table, scale, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        long start = System.nanoTime();
        operations.addPositions(table, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void addTypes(Weight table, Rows output) {
        long start = System.nanoTime();
        operations.addTypes(table, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        long start = System.nanoTime();
        operations.norm(input, norm, output, rows);
        end(Kind.NORMS, start);
    }

    @Override
    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        long start = System.nanoTime();
        operations.normHeads(input, norm, size, output, rows);
        end(Kind.NORMS, start);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        operations.addNormed(input, norm, scale, output, rows);
        end(Kind.NORMS, start);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        long start = System.nanoTime();
        operations.linear(input, weight, epilogue, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void adapt(Rows input, Weight weight, float scale, Rows output) {
        long start = System.nanoTime();
        operations.adapt(input, weight, scale, output);
        end(Kind.ADAPTERS, start);
    }

    @Override
    public void adaptTable(Weight table, float scale, Rows output) {
        long start = System.nanoTime();
        operations.adaptTable(table, scale, output);
        end(Kind.ADAPTERS, start);
    }

    @Override
    public void adaptLogits(Rows input, Weight weight, Rows output, int outputs) {
        long start = System.nanoTime();
        operations.adaptLogits(input, weight, output, outputs);
        end(Kind.ADAPTERS, start);
    }

    @Override
    public void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        long start = System.nanoTime();
        operations.adaptExperts(input, linear, routing, output, rows);
        end(Kind.ADAPTERS, start);
    }

    @Override
    public void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs) {
        long start = System.nanoTime();
        operations.logits(input, weight, epilogue, output, outputs);
        end(Kind.LOGITS, start);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        long start = System.nanoTime();
        operations.normedLinear(input, norm, normed, weight, epilogue, output, rows);
        end(Kind.NORMED_PRODUCTS, start);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        long start = System.nanoTime();
        operations.headLinear(input, weight, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        long start = System.nanoTime();
        operations.ropeAndAppendKv(query, key, value, layer, cache);
        end(Kind.ROTATION, start);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        long start = System.nanoTime();
        operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
        end(Kind.ROTATION, start);
    }

    @Override
    public void compress(Compression compression, KvCache cache, Rows room) {
        long start = System.nanoTime();
        operations.compress(compression, cache, room);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache) {
        long start = System.nanoTime();
        operations.choosePositions(query, weights, index, cache);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        long start = System.nanoTime();
        operations.attention(query, layer, cache, output);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        long start = System.nanoTime();
        operations.appendAndAttend(query, key, value, layer, cache, output);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void convolve(Rows input, Convolution convolution, KvCache cache, Rows output) {
        long start = System.nanoTime();
        operations.convolve(input, convolution, cache, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void deltaRule(
            Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output) {
        long start = System.nanoTime();
        operations.deltaRule(query, key, value, a, b, rule, cache, output);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void deltaNet(DeltaNet net, KvCache cache, int rows) {
        long start = System.nanoTime();
        operations.deltaNet(net, cache, rows);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output) {
        long start = System.nanoTime();
        operations.selectiveScan(x, times, b, c, scan, cache, output);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        long start = System.nanoTime();
        operations.gatedActivation(gate, up, kind, output, rows);
        end(Kind.GATES, start);
    }

    @Override
    public void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        long start = System.nanoTime();
        operations.gateNormed(gate, parts, norm, kind, output, rows);
        end(Kind.GATES, start);
    }

    @Override
    public void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        long start = System.nanoTime();
        operations.gatedLinear(input, norm, normed, product, rows);
        end(Kind.GATED_PRODUCTS, start);
    }

    @Override
    public void adaptedGatedLinear(Rows input, GatedLinear product, int rows) {
        long start = System.nanoTime();
        operations.adaptedGatedLinear(input, product, rows);
        end(Kind.GATED_PRODUCTS, start);
    }

    @Override
    public void sparsify(Rows gates, float deviations, int rows) {
        long start = System.nanoTime();
        operations.sparsify(gates, deviations, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void xielu(Rows numbers, Xielu kind, int rows) {
        long start = System.nanoTime();
        operations.xielu(numbers, kind, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        long start = System.nanoTime();
        operations.mix(input, coefficients, width, output, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        long start = System.nanoTime();
        operations.connect(products, connection, coefficients, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        long start = System.nanoTime();
        operations.addAsLongAs(input, like, output, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        long start = System.nanoTime();
        operations.routeExperts(logits, router, routing, rows);
        end(Kind.EXPERTS, start);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        long start = System.nanoTime();
        operations.groupedLinear(input, linear, routing, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        long start = System.nanoTime();
        operations.combineExperts(input, routing, scale, adds, output, rows);
        end(Kind.EXPERTS, start);
    }

    @Override
    public void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        long start = System.nanoTime();
        operations.feedExperts(input, experts, routing, sum, rows);
        end(Kind.EXPERTS, start);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        operations.addGated(input, gate, scale, output, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        long start = System.nanoTime();
        operations.selectOutputs(input, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        long start = System.nanoTime();
        operations.scaleLogits(logits, scale, softCap, rows);
        end(Kind.OTHERS, start);
    }
}
