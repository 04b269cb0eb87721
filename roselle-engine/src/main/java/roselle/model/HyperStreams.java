package roselle.model;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.model.weights.AdaptableWeights;

/**
 * Residual streams that halves of layers are connected to ({@link roselle.model.spec.HyperConnections}): how they begin, what a half reads
 * of them, how they go on with what it gives, and what is read at the end.
 *
 * @param norm of all streams as one row, without weights
 * @param end what makes coefficients behind all layers; null where they are those of a mean
 */
record HyperStreams(
        HyperRows rows,
        int width,
        Norm norm,
        Connection attention,
        Connection feedForward,
        Connection last,
        @Nullable Product end)
        implements ResidualStreams {
    /** What makes coefficients: a matrix with its scale, and a bias. */
    record Product(Weight weight, Epilogue bias) {}

    /** What makes the coefficients of a layer's halves. */
    record Halves(Product attention, Product feedForward) {}

    /** All streams are the embedding. */
    @Override
    public void begin(Operations operations, Weight embedding, float scale, int count) {
        for (int i = 0; i < rows.streams().size(); i++) {
            operations.embed(embedding, scale, rows.streams().get(i));
        }
    }

    @Override
    public void beforeAttention(Operations operations, Layer layer, Rows hidden, int count) {
        read(operations, rows.before(), halves(layer).attention(), attention, hidden, count);
    }

    @Override
    public void betweenHalves(Operations operations, Layer layer, Rows hidden, int count) {
        operations.mix(rows.withBefore(), rows.mixed(), width, rows.between(), count);
        read(operations, rows.between(), halves(layer).feedForward(), feedForward, hidden, count);
    }

    @Override
    public void afterFeedForward(Operations operations, Layer layer, int count) {
        operations.mix(rows.withBetween(), rows.mixed(), width, rows.before(), count);
    }

    private static Halves halves(Layer layer) {
        return requireNonNull(layer.hyper(), "a layer that is not connected");
    }

    private void read(
            Operations operations, Rows streams, Product product, Connection connection, Rows hidden, int count) {
        operations.norm(streams, norm, rows.normed(), count);
        operations.linear(rows.normed(), product.weight(), product.bias(), rows.products(), count);
        operations.connect(rows.products(), connection, rows.coefficients(), count);
        operations.mix(streams, rows.read(), width, hidden, count);
    }

    @Override
    public void end(Operations operations, Rows target, int outputs) {
        operations.selectOutputs(rows.before(), rows.last());
        if (end != null) {
            operations.norm(rows.last(), norm, rows.lastNormed(), outputs);
            operations.linear(rows.lastNormed(), end.weight(), end.bias(), rows.lastCoefficients(), outputs);
            operations.connect(rows.lastCoefficients(), last, rows.lastCoefficients(), outputs);
        }
        operations.mix(rows.last(), rows.lastCoefficients(), width, target, outputs);
    }

    @Override
    public void leaveAdaptable(AdaptableWeights adaptable, List<Layer> layers) {
        if (end != null) {
            adaptable.remove(end.weight());
        }
        for (Layer layer : layers) {
            adaptable.remove(halves(layer).attention().weight());
            adaptable.remove(halves(layer).feedForward().weight());
        }
    }
}
