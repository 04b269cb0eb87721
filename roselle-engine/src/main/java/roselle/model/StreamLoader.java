package roselle.model;

import java.util.List;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.Streams;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.Copies;
import roselle.quantization.StoredMatrix;
import roselle.tensor.Shape;

/** Brings what mixes streams side by side from a checkpoint to a store; coefficients of both mixes are put together here. */
final class StreamLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;

    StreamLoader(DecoderSpec spec, TensorSource tensors, Rearrangement rearrangement, Store store) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
    }

    SideStreams load(Streams streams, StreamRows rows, Workspace space) {
        return new SideStreams(
                rows,
                stack(Part.STREAM_PROJECTION, streams.count() - 1),
                stack(Part.STREAM_RETURN, streams.count() - 1),
                space.normed,
                space.delta);
    }

    private List<Weight> stack(Part part, int count) {
        return tensors.experts(part, 0, count, spec.width(), spec.width()).stream()
                .map(matrix -> store.load(part + " of streams", 1, List.of(matrix)))
                .toList();
    }

    Layer.Streams layer(Streams streams, int layer, Norm routerNorm, Norm laurelNorm) {
        return new Layer.Streams(
                routerNorm,
                matrix(Part.STREAM_ROUTER, layer, streams.count(), spec.width()),
                prediction(streams.count(), layer),
                Epilogue.bias(store.constants(predictionBias(streams.count()))),
                correction(streams.count(), layer),
                Epilogue.bias(store.constants(correctionBias(streams.count()))),
                matrix(Part.LAUREL_DOWN, layer, streams.rank(), spec.width()),
                matrix(Part.LAUREL_UP, layer, spec.width(), streams.rank()),
                laurelNorm);
    }

    /** Coefficients of {@code [streams and the first again, streams]}: each stream itself and what the router says of all. */
    private Weight prediction(int count, int layer) {
        long square = (long) count * count;
        float[] stored =
                tensors.matrix(Part.STREAM_PREDICTION, layer, square, count).numbers();
        return floats(
                "prediction",
                layer,
                count * (count + 1),
                count,
                (row, column) -> stored[Math.toIntExact(row % square * count + column)]);
    }

    private static float[] predictionBias(int count) {
        var bias = new float[count * (count + 1)];
        for (int output = 0; output <= count; output++) {
            bias[output * count + output % count] = 1f;
        }
        return bias;
    }

    /**
     * Coefficients of {@code [streams, predictions and what was computed]}: the prediction, and {@code c} times the difference between
     * what was computed and the first prediction, where {@code c} is 1 and what the router says.
     */
    private Weight correction(int count, int layer) {
        float[] stored =
                tensors.matrix(Part.STREAM_CORRECTION, layer, count, count).numbers();
        return floats("correction", layer, count * (count + 1), count, (row, column) -> {
            int input = Math.toIntExact(row % (count + 1));
            float c = stored[Math.toIntExact(row / (count + 1) * count + column)];
            return input == 0 ? -c : input == count ? c : 0f;
        });
    }

    private static float[] correctionBias(int count) {
        var bias = new float[count * (count + 1)];
        for (int output = 0; output < count; output++) {
            int at = output * (count + 1);
            bias[at + output] = 1f;
            bias[at] -= 1f;
            bias[at + count] = 1f;
        }
        return bias;
    }

    /** A matrix whose columns are multiplied by what a stream is multiplied by before it. */
    Weight scaled(Part part, int layer, int rows) {
        float[] numbers = tensors.matrix(part, layer, rows, spec.width()).numbers();
        float[] scale = tensors.vector(Part.STREAM_SCALE, layer, spec.width());
        return floats(
                part.toString(),
                layer,
                rows,
                spec.width(),
                (row, column) ->
                        numbers[Math.toIntExact(row * spec.width() + column)] * scale[Math.toIntExact(column)]);
    }

    private Weight floats(String what, int layer, int rows, int columns, Copies.Floats numbers) {
        String name = "layer " + layer + " " + what;
        return store.load(
                name, 1, List.of(StoredMatrix.of(rearrangement.floats(name, Shape.of(rows, columns), numbers))));
    }

    private Weight matrix(Part part, int layer, int rows, int columns) {
        return store.load(
                "layer " + layer + " " + part, 1, List.of(tensors.product(part, layer, rows, columns, rearrangement)));
    }
}
