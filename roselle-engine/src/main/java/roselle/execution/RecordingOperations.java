package roselle.execution;

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

/** Operations that tell the inputs of products; what is fused falls apart, so that inputs are there to be seen. */
final class RecordingOperations implements Operations {
    private final Operations operations;
    private final RecordingDevice.Inputs inputs;

    RecordingOperations(Operations operations, RecordingDevice.Inputs inputs) {
        this.operations = operations;
        this.inputs = inputs;
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        operations.embed(table, scale, output);
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        operations.addPositions(table, output);
    }

    @Override
    public void addTypes(Weight table, Rows output) {
        operations.addTypes(table, output);
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        operations.norm(input, norm, output, rows);
    }

    @Override
    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        operations.normHeads(input, norm, size, output, rows);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        operations.addNormed(input, norm, scale, output, rows);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        inputs.of(weight, input, rows);
        operations.linear(input, weight, epilogue, output, rows);
    }

    @Override
    public void adapt(Rows input, Weight weight, float scale, Rows output) {
        operations.adapt(input, weight, scale, output);
    }

    @Override
    public void adaptTable(Weight table, float scale, Rows output) {
        operations.adaptTable(table, scale, output);
    }

    @Override
    public void adaptLogits(Rows input, Weight weight, Rows output, int outputs) {
        operations.adaptLogits(input, weight, output, outputs);
    }

    @Override
    public void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        operations.adaptExperts(input, linear, routing, output, rows);
    }

    @Override
    public void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs) {
        inputs.of(weight, input, outputs);
        operations.logits(input, weight, epilogue, output, outputs);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        UnfusedOperations.normedLinear(this, input, norm, normed, weight, epilogue, output, rows);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        operations.headLinear(input, weight, output, rows);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        operations.ropeAndAppendKv(query, key, value, layer, cache);
    }

    @Override
    public void convolve(Rows input, Convolution convolution, KvCache cache, Rows output) {
        operations.convolve(input, convolution, cache, output);
    }

    @Override
    public void deltaRule(
            Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output) {
        operations.deltaRule(query, key, value, a, b, rule, cache, output);
    }

    @Override
    public void deltaNet(DeltaNet net, KvCache cache, int rows) {
        UnfusedOperations.deltaNet(this, net, cache, rows);
    }

    @Override
    public void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output) {
        operations.selectiveScan(x, times, b, c, scan, cache, output);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
    }

    @Override
    public void compress(Compression compression, KvCache cache, Rows room) {
        operations.compress(compression, cache, room);
    }

    @Override
    public void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache) {
        operations.choosePositions(query, weights, index, cache);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        operations.attention(query, layer, cache, output);
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        operations.appendAndAttend(query, key, value, layer, cache, output);
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        operations.gatedActivation(gate, up, kind, output, rows);
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
        operations.sparsify(gates, deviations, rows);
    }

    @Override
    public void xielu(Rows numbers, Xielu kind, int rows) {
        operations.xielu(numbers, kind, rows);
    }

    @Override
    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        operations.mix(input, coefficients, width, output, rows);
    }

    @Override
    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        operations.connect(products, connection, coefficients, rows);
    }

    @Override
    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        operations.addAsLongAs(input, like, output, rows);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        operations.routeExperts(logits, router, routing, rows);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        inputs.ofExperts(linear.experts(), input, linear.spread(), routing, rows);
        operations.groupedLinear(input, linear, routing, output, rows);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        operations.combineExperts(input, routing, scale, adds, output, rows);
    }

    @Override
    public void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        UnfusedOperations.feedExperts(this, input, experts, routing, sum, rows);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        operations.addGated(input, gate, scale, output, rows);
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        operations.selectOutputs(input, output);
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        operations.scaleLogits(logits, scale, softCap, rows);
    }
}
