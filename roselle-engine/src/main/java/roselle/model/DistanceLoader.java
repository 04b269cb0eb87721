package roselle.model;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Weight;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.DistanceScores;
import roselle.backend.operation.HeadShape;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.DistanceKinds;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;
import roselle.tensor.Shape;

/** Brings what attention knows of distances to a device; tables are the same in all layers and loaded once. */
final class DistanceLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;
    private final Workspace workspace;
    private @Nullable DistanceBias bias;
    private @Nullable DistanceScores scores;
    private float @Nullable [] vectors; // [kinds, width]

    DistanceLoader(
            DecoderSpec spec, TensorSource tensors, Rearrangement rearrangement, Store store, Workspace workspace) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
        this.workspace = workspace;
    }

    /** What distances add by themselves; null for nothing. */
    @Nullable
    DistanceBias bias(int heads) {
        int buckets = spec.input().distanceBuckets();
        if (bias == null && buckets > 0) {
            float[] table = tensors.matrix(Part.DISTANCES, 0, buckets, heads).numbers();
            bias = DistanceBuckets.bias(table, buckets, heads, store);
        }
        return bias;
    }

    /** What a layer's queries and keys add; its products make queries and keys of the vectors of distances, too. */
    Layer.Distances met(DistanceKinds kinds, HeadShape heads, int layer) {
        if (scores == null) {
            scores = new DistanceScores(workspace.queryScores(), workspace.keyScores(), table(kinds), span());
            vectors = vectors(kinds);
        }
        return new Layer.Distances(
                products(Part.KEY, kinds, heads, layer), products(Part.QUERY, kinds, heads, layer), scores);
    }

    private int span() {
        return spec.context() - 1;
    }

    private Buffer table(DistanceKinds kinds) {
        var table = new float[2 * span() + 1];
        for (int i = 0; i < table.length; i++) {
            table[i] = kinds.kind(i - span());
        }
        return store.constants(table);
    }

    private float[] vectors(DistanceKinds kinds) {
        int width = spec.width();
        float[] all =
                tensors.matrix(Part.DISTANCE_VECTORS, 0, kinds.count(), width).numbers();
        if (kinds.normed()) {
            float[] weight = tensors.vector(Part.DISTANCE_NORM, 0, width);
            float[] offsets = tensors.bias(Part.DISTANCE_NORM, 0, width);
            for (int kind = 0; kind < kinds.count(); kind++) {
                normalise(all, kind * width, weight, offsets);
            }
        }
        return all;
    }

    /** A layer norm in place; sums are in float64. */
    private void normalise(float[] numbers, int at, float[] weight, float[] offsets) {
        int width = weight.length;
        double mean = 0;
        for (int i = 0; i < width; i++) {
            mean += numbers[at + i];
        }
        mean /= width;
        double squares = 0;
        for (int i = 0; i < width; i++) {
            squares += (numbers[at + i] - mean) * (numbers[at + i] - mean);
        }
        double factor = 1 / Math.sqrt(squares / width + spec.norm().epsilon());
        for (int i = 0; i < width; i++) {
            numbers[at + i] = (float) ((numbers[at + i] - mean) * factor * weight[i] + offsets[i]);
        }
    }

    /** Per head {@code [kinds, keySize]}: what a product makes of the vectors; computed where it is kept. */
    private Weight products(Part part, DistanceKinds kinds, HeadShape heads, int layer) {
        int outputs = heads.queryHeads() * heads.keySize();
        StoredMatrix matrix = tensors.matrix(part, layer, outputs, spec.width());
        float[] offsets = tensors.bias(part, layer, outputs);
        float[] distances = requireNonNull(vectors, "vectors");
        var products = new Object() {
            private float @Nullable [] all;

            synchronized float[] all() {
                float[] known = all == null ? products(distances, matrix.numbers(), offsets) : all;
                all = known;
                return known;
            }
        };
        int count = kinds.count();
        int size = heads.keySize();
        String name = "layer " + layer + " " + part + " of distances";
        var all = StoredMatrix.of(rearrangement.floats(
                name,
                Shape.of((long) heads.queryHeads() * count, size),
                (row, column) -> products.all()[(int) (row % count * outputs + row / count * size + column)]));
        List<StoredMatrix> each = IntStream.range(0, heads.queryHeads())
                .mapToObj(head -> all.rows((long) head * count, count))
                .toList();
        return store.load(name, heads.queryHeads(), each);
    }

    /** {@code [kinds, outputs]} of vectors {@code [kinds, inputs]} and a matrix {@code [outputs, inputs]}. */
    private static float[] products(float[] vectors, float[] matrix, float[] offsets) {
        int outputs = offsets.length;
        int inputs = matrix.length / outputs;
        var turned = new float[matrix.length];
        for (int i = 0; i < matrix.length; i++) {
            turned[i % inputs * outputs + i / inputs] = matrix[i];
        }
        var all = new float[vectors.length / inputs * outputs];
        IntStream.range(0, vectors.length / inputs).parallel().forEach(kind -> {
            float[] sums = offsets.clone();
            for (int input = 0; input < inputs; input++) {
                float factor = vectors[kind * inputs + input];
                int at = input * outputs;
                for (int output = 0; output < outputs; output++) { // independent sums
                    sums[output] += factor * turned[at + output];
                }
            }
            System.arraycopy(sums, 0, all, kind * outputs, outputs);
        });
        return all;
    }
}
