package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvGroup;

/**
 * All that is fixed about attention in one layer.
 *
 * @param group index of the layer's {@link KvGroup}, which also knows the window
 * @param layer index among the layers of that group
 * @param rope null where positions are not encoded
 * @param queryNorm applied to each query head before rotation; null for none
 * @param keyNorm applied to each key head before rotation; null for none
 * @param scale multiplies the product of query and key
 * @param softCap {@code c} of {@code c * tanh(score / c)}; 0 for none
 * @param sinks F32, per query head the logit of a key without value that takes part in the softmax; null for none
 * @param bidirectional whether a row sees all rows of its sequence, those behind it too, and the window reaches both ways
 * @param distances what is added to scores by distance, before the cap; null for nothing
 * @param appends whether the layer has keys and values; else it has queries alone, to those that another layer appended there
 */
public record AttentionLayer(
        int group,
        int layer,
        HeadShape heads,
        @Nullable Rope rope,
        @Nullable Norm queryNorm,
        @Nullable Norm keyNorm,
        float scale,
        float softCap,
        @Nullable Buffer sinks,
        boolean bidirectional,
        @Nullable DistanceBias distances,
        boolean appends) {
    /** Attention of each row to what came before it. */
    public AttentionLayer(
            int group,
            int layer,
            HeadShape heads,
            @Nullable Rope rope,
            @Nullable Norm queryNorm,
            @Nullable Norm keyNorm,
            float scale,
            float softCap,
            @Nullable Buffer sinks) {
        this(group, layer, heads, rope, queryNorm, keyNorm, scale, softCap, sinks, false);
    }

    /** Attention to keys and values of the layer's own. */
    public AttentionLayer(
            int group,
            int layer,
            HeadShape heads,
            @Nullable Rope rope,
            @Nullable Norm queryNorm,
            @Nullable Norm keyNorm,
            float scale,
            float softCap,
            @Nullable Buffer sinks,
            boolean bidirectional) {
        this(group, layer, heads, rope, queryNorm, keyNorm, scale, softCap, sinks, bidirectional, null, true);
    }
}
