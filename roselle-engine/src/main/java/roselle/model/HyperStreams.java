package roselle.model;

import java.util.List;
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
 * @param end what makes coefficients behind all layers
 */
record HyperStreams(
        HyperRows rows,
        int width,
        Norm norm,
        Connection attention,
        Connection feedForward,
        Connection last,
        Product end) {
    /** What makes coefficients: a matrix with its scale, and a bias. */
    record Product(Weight weight, Epilogue bias) {}

    /** What makes the coefficients of a layer's halves. */
    record Layer(Product attention, Product feedForward) {}

    /** All streams are the embedding. */
    void begin(Operations operations, Weight embedding, float scale) {
        for (int i = 0; i < rows.streams().size(); i++) {
            operations.embed(embedding, scale, rows.streams().get(i));
        }
    }

    /** What attention reads. */
    void readAttention(Operations operations, Layer layer, Rows hidden, int count) {
        read(operations, rows.before(), layer.attention(), attention, hidden, count);
    }

    /** How streams go on with what attention gave. */
    void giveAttention(Operations operations, int count) {
        operations.mix(rows.withBefore(), rows.mixed(), width, rows.between(), count);
    }

    /** What a feed-forward reads. */
    void readFeedForward(Operations operations, Layer layer, Rows hidden, int count) {
        read(operations, rows.between(), layer.feedForward(), feedForward, hidden, count);
    }

    /** How streams go on with what a feed-forward gave. */
    void giveFeedForward(Operations operations, int count) {
        operations.mix(rows.withBetween(), rows.mixed(), width, rows.before(), count);
    }

    private void read(
            Operations operations, Rows streams, Product product, Connection connection, Rows hidden, int count) {
        operations.norm(streams, norm, rows.normed(), count);
        operations.linear(rows.normed(), product.weight(), product.bias(), rows.coefficients(), count);
        operations.connect(rows.coefficients(), connection, rows.coefficients(), count);
        operations.mix(streams, rows.read(), width, hidden, count);
    }

    /** What is read of the streams of the rows whose logits are wanted. */
    void end(Operations operations, Rows target, int outputs) {
        operations.selectOutputs(rows.before(), rows.last());
        operations.norm(rows.last(), norm, rows.lastNormed(), outputs);
        operations.linear(rows.lastNormed(), end.weight(), end.bias(), rows.lastCoefficients(), outputs);
        operations.connect(rows.lastCoefficients(), last, rows.lastCoefficients(), outputs);
        operations.mix(rows.last(), rows.lastCoefficients(), width, target, outputs);
    }

    /** Takes out what adapters cannot add to. */
    void leaveAdaptable(AdaptableWeights adaptable, List<roselle.model.Layer> layers) {
        adaptable.remove(end.weight());
        for (roselle.model.Layer layer : layers) {
            if (layer.hyper() != null) {
                adaptable.remove(layer.hyper().attention().weight());
                adaptable.remove(layer.hyper().feedForward().weight());
            }
        }
    }
}
