package roselle.model;

import java.util.List;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Operations;
import roselle.model.weights.AdaptableWeights;

/** Several residual streams in the place of one: what happens to them around the halves of a layer, which know one stream alone. */
sealed interface ResidualStreams permits SideStreams, HyperStreams {
    /** The streams of a step's rows, from the embedding. */
    void begin(Operations operations, Weight embedding, float scale, int count);

    /** Leaves in {@code hidden} what a layer's attention reads. */
    void beforeAttention(Operations operations, Layer layer, Rows hidden, int count);

    /** Takes what attention gave, and leaves in {@code hidden} what the feed-forward reads. */
    void betweenHalves(Operations operations, Layer layer, Rows hidden, int count);

    /** Takes what the feed-forward gave. */
    void afterFeedForward(Operations operations, Layer layer, int count);

    /** What is read of the streams of the rows whose logits are wanted. */
    void end(Operations operations, Rows target, int outputs);

    /** Takes out what adapters cannot add to. */
    void leaveAdaptable(AdaptableWeights adaptable, List<Layer> layers);
}
