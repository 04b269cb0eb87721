package roselle.model;

import java.util.Arrays;
import java.util.List;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;
import roselle.tensor.Shape;

/** Brings what connects layers to streams from a checkpoint to a store: matrices as float32, with their scales. */
final class HyperLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;

    HyperLoader(DecoderSpec spec, TensorSource tensors, Rearrangement rearrangement, Store store) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
    }

    HyperStreams load(HyperConnections kind, HyperRows rows) {
        int streams = kind.count();
        var ones = new float[streams * spec.width()];
        Arrays.fill(ones, 1f);
        var norm = new Norm(
                Norm.Kind.RMS, store.constants(ones), 0f, null, spec.norm().epsilon());
        return new HyperStreams(
                rows,
                spec.width(),
                norm,
                new Connection(streams, kind.rounds(), kind.epsilon(), kind.taken(), false),
                new Connection(streams, kind.rounds(), kind.epsilon(), kind.taken(), true),
                Connection.read(streams, kind.epsilon()),
                kind.endsAsMean() ? null : end(streams));
    }

    private HyperStreams.Product end(int streams) {
        float[] scale = tensors.vector(Part.OUTPUT_CONNECTION_SCALE, 0, 1);
        return product(Part.OUTPUT_CONNECTION, Part.OUTPUT_CONNECTION_BIAS, 0, scale, streams, streams);
    }

    HyperStreams.Halves layer(HyperConnections kind, int layer) {
        return new HyperStreams.Halves(
                product(
                        Part.ATTENTION_CONNECTION,
                        Part.ATTENTION_CONNECTION_BIAS,
                        layer,
                        tensors.vector(Part.ATTENTION_CONNECTION_SCALE, layer, kind.scales()),
                        kind.count(),
                        kind.products()),
                product(
                        Part.FEED_FORWARD_CONNECTION,
                        Part.FEED_FORWARD_CONNECTION_BIAS,
                        layer,
                        tensors.vector(Part.FEED_FORWARD_CONNECTION_SCALE, layer, kind.scales()),
                        kind.count(),
                        kind.products()));
    }

    /** The scales are those of what is read, what is given, and of the square: of as many rows, as many, and the rest. */
    private HyperStreams.Product product(Part part, Part bias, int layer, float[] scales, int streams, int rows) {
        int columns = streams * spec.width();
        float[] numbers = tensors.matrix(part, layer, rows, columns).numbers();
        String name = "layer " + layer + " " + part;
        Weight weight = store.load(
                name,
                1,
                List.of(StoredMatrix.of(rearrangement.floats(
                        name,
                        Shape.of(rows, columns),
                        (row, column) -> numbers[Math.toIntExact(row * columns + column)]
                                * scales[(int) Math.min(row / streams, scales.length - 1)]))));
        return new HyperStreams.Product(weight, Epilogue.bias(store.constants(tensors.vector(bias, layer, rows))));
    }
}
