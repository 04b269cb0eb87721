package roselle.bench;

import java.lang.foreign.MemorySegment;
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
import roselle.backend.StepInputs;
import roselle.backend.Weight;
import roselle.bench.StepProfile.Kind;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/** A backend whose operations end before they return, with a watch around each of them. */
final class ProfilingBackend implements Backend {
    private final Backend backend;
    private final StepProfile profile;

    ProfilingBackend(Backend backend, StepProfile profile) {
        this.backend = backend;
        this.profile = profile;
    }

    private void end(Kind kind, long start) {
        profile.add(kind, System.nanoTime() - start);
    }

    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public int hostThreads() {
        return backend.hostThreads();
    }

    @Override
    public DataType activationType() {
        return backend.activationType();
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        return backend.allocate(type, elements);
    }

    @Override
    public Buffer constants(float[] values) {
        return backend.constants(values);
    }

    @Override
    public Weight load(String name, int matrices, List<Tensor> blocks) {
        return backend.load(name, matrices, blocks);
    }

    @Override
    public Weight loadTable(String name, Tensor table) {
        return backend.loadTable(name, table);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, DataType type, int pageTokens, int[] pages) {
        return backend.allocateKvCache(groups, type, pageTokens, pages);
    }

    @Override
    public void begin(StepInputs inputs) {
        backend.begin(inputs);
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        long start = System.nanoTime();
        backend.embed(table, scale, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        long start = System.nanoTime();
        backend.addPositions(table, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        long start = System.nanoTime();
        backend.norm(input, norm, output, rows);
        end(Kind.NORMS, start);
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        backend.addNormed(input, norm, scale, output, rows);
        end(Kind.NORMS, start);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        long start = System.nanoTime();
        backend.linear(input, weight, epilogue, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        long start = System.nanoTime();
        backend.headLinear(input, weight, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        long start = System.nanoTime();
        backend.ropeAndAppendKv(query, key, value, layer, cache);
        end(Kind.ROTATION, start);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        long start = System.nanoTime();
        backend.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
        end(Kind.ROTATION, start);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        long start = System.nanoTime();
        backend.attention(query, layer, cache, output);
        end(Kind.ATTENTION, start);
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        long start = System.nanoTime();
        backend.gatedActivation(gate, up, kind, output, rows);
        end(Kind.GATES, start);
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        long start = System.nanoTime();
        backend.routeExperts(logits, router, routing, rows);
        end(Kind.EXPERTS, start);
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        long start = System.nanoTime();
        backend.groupedLinear(input, linear, routing, output, rows);
        end(Kind.PRODUCTS, start);
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        backend.combineExperts(input, routing, scale, output, rows);
        end(Kind.EXPERTS, start);
    }

    @Override
    public void addScaled(Rows input, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        backend.addScaled(input, scale, output, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        long start = System.nanoTime();
        backend.addGated(input, gate, scale, output, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        long start = System.nanoTime();
        backend.selectOutputs(input, output);
        end(Kind.OTHERS, start);
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        long start = System.nanoTime();
        backend.scaleLogits(logits, scale, softCap, rows);
        end(Kind.OTHERS, start);
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        backend.copyPage(cache, group, from, to);
    }

    @Override
    public void write(MemorySegment source, Rows target, int firstRow, int rows) {
        backend.write(source, target, firstRow, rows);
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        long start = System.nanoTime();
        backend.read(source, firstRow, rows, target);
        end(Kind.OTHERS, start);
    }

    @Override
    public void close() {
        backend.close();
    }
}
