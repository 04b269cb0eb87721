package roselle.model;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.model.weights.AdaptableWeights;

/**
 * Streams side by side (AltUp; Baykal et al., 2023): how they begin, how a layer predicts them from each other and corrects them by what
 * it made of the first, and how they end; and two narrow products beside attention (LAuReL; Menghani et al., 2024).
 *
 * @param projections what makes the others of the first
 * @param returns what brings them back
 * @param normed a place for normalised rows
 * @param delta a place for what is added
 */
record SideStreams(StreamRows rows, List<Weight> projections, List<Weight> returns, Rows normed, Rows delta)
        implements ResidualStreams {
    private static final float HALF_OF_VARIANCE = (float) Math.sqrt(0.5);

    /** The first stream is the embedding; the others are made of it, and as long. */
    @Override
    public void begin(Operations operations, Weight embedding, float scale, int count) {
        Rows first = rows.streams().getFirst();
        operations.embed(embedding, scale, first);
        for (int i = 1; i < rows.streams().size(); i++) {
            operations.linear(first, projections.get(i - 1), Epilogue.PLAIN, normed, count);
            operations.embed(embedding, 0f, rows.streams().get(i)); // zeros
            operations.addAsLongAs(normed, first, rows.streams().get(i), count);
        }
    }

    /** What the layer expects of the streams; what it computes begins as the first of them. */
    @Override
    public void beforeAttention(Operations operations, Layer layer, Rows hidden, int count) {
        Layer.Streams own = streams(layer);
        route(operations, own, rows.streams().getFirst(), count);
        operations.linear(rows.routed(), own.prediction(), own.predictionBias(), rows.coefficients(), count);
        operations.mix(rows.all(), rows.coefficients(), rows.width(), rows.predicted(), count);
    }

    /** Adds what goes beside attention: its normalised input, and two narrow products of that. */
    @Override
    public void betweenHalves(Operations operations, Layer layer, Rows hidden, int count) {
        Layer.Streams own = streams(layer);
        Norm inputNorm = requireNonNull(layer.attentionNorm(), "layers of side streams normalise their input");
        operations.norm(rows.firstPredicted(), inputNorm, normed, count);
        operations.linear(normed, own.laurelDown(), Epilogue.PLAIN, rows.narrow(), count);
        operations.linear(rows.narrow(), own.laurelUp(), Epilogue.PLAIN, delta, count);
        operations.addNormed(delta, own.laurelNorm(), 1f, rows.hidden(), count);
        operations.addNormed(rows.firstPredicted(), inputNorm, 1f, rows.hidden(), count);
        operations.scaleLogits(rows.hidden(), HALF_OF_VARIANCE, 0f, count);
    }

    /** The streams behind a layer, by how far it is from what was expected. */
    @Override
    public void afterFeedForward(Operations operations, Layer layer, int count) {
        Layer.Streams own = streams(layer);
        route(operations, own, rows.hidden(), count);
        operations.linear(rows.routed(), own.correction(), own.correctionBias(), rows.coefficients(), count);
        operations.mix(rows.predicted(), rows.coefficients(), rows.width(), rows.all(), count);
    }

    private static Layer.Streams streams(Layer layer) {
        return requireNonNull(layer.streams(), "a layer that knows one stream");
    }

    private void route(Operations operations, Layer.Streams layer, Rows input, int count) {
        operations.norm(input, layer.routerNorm(), normed, count);
        operations.linear(normed, layer.router(), Epilogue.PLAIN, rows.routed(), count);
        operations.scaleLogits(rows.routed(), 1f / rows.width(), 1f, count); // the hyperbolic tangent
    }

    /** The mean of all streams of the rows whose logits are wanted. */
    @Override
    public void end(Operations operations, Rows target, int outputs) {
        operations.selectOutputs(rows.all(), rows.last());
        operations.selectOutputs(rows.streams().getFirst(), target);
        Rows first = rows.lastStreams().getFirst();
        for (int i = 1; i < rows.lastStreams().size(); i++) {
            operations.linear(rows.lastStreams().get(i), returns.get(i - 1), Epilogue.PLAIN, normed, outputs);
            operations.addAsLongAs(normed, first, target, outputs);
        }
        operations.scaleLogits(target, 1f / rows.lastStreams().size(), 0f, outputs);
    }

    @Override
    public void leaveAdaptable(AdaptableWeights adaptable, List<Layer> layers) {
        var all = new ArrayList<Weight>(projections);
        all.addAll(returns);
        for (Layer layer : layers) {
            Layer.Streams own = streams(layer);
            all.addAll(List.of(own.router(), own.prediction(), own.correction(), own.laurelDown(), own.laurelUp()));
            if (layer.told() != null) {
                all.add(layer.told().down()); // it may be multiplied with the stream's scale
            }
        }
        all.forEach(adaptable::remove);
    }
}
