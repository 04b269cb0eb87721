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
 * @param appends whether the layer has keys and values; else it has queries alone, to those that another layer appended there
 * @param traits what few families have
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
        boolean appends,
        Traits traits) {
    /**
     * What few families have, and not every device computes ({@link roselle.backend.step.StepDemands#special}).
     *
     * @param normsTurned whether the norms of queries and keys follow their rotation
     * @param queryScale by what a query is multiplied once it is turned; null for nothing
     * @param slopes F32, per query head what is added to its score for each position that the key lies before it, below 0 or 0 (ALiBi;
     *     Press et al., 2022); null for none
     * @param distances what is added to scores by distance, before the cap; null for nothing
     * @param chosen the positions that a row sees, or the keys, where they are made of more than one token; null for all before it
     * @param turnsEnds whether the last numbers of queries and keys turn, and not the first, and what is attended, whose values are keys,
     *     is turned back by its own position (DeepSeek V4)
     * @param compressed further keys, each made of several tokens, which are values, too; they follow those of the window; null for none
     * @param met what queries and keys add to scores by distance, before the scale; null for nothing
     */
    public record Traits(
            boolean normsTurned,
            @Nullable PositionScale queryScale,
            @Nullable Buffer slopes,
            @Nullable DistanceBias distances,
            @Nullable ChosenPositions chosen,
            boolean turnsEnds,
            @Nullable AttentionLayer compressed,
            @Nullable DistanceScores met) {
        public static final Traits NONE = new Traits(false, null, null, null, null);

        public Traits(
                boolean normsTurned,
                @Nullable PositionScale queryScale,
                @Nullable Buffer slopes,
                @Nullable DistanceBias distances,
                @Nullable ChosenPositions chosen) {
            this(normsTurned, queryScale, slopes, distances, chosen, false, null);
        }

        public Traits(
                boolean normsTurned,
                @Nullable PositionScale queryScale,
                @Nullable Buffer slopes,
                @Nullable DistanceBias distances,
                @Nullable ChosenPositions chosen,
                boolean turnsEnds,
                @Nullable AttentionLayer compressed) {
            this(normsTurned, queryScale, slopes, distances, chosen, turnsEnds, compressed, null);
        }

        /** With scores that queries and keys add by distance. */
        public static Traits ofDistances(DistanceScores met) {
            return new Traits(false, null, null, null, null, false, null, met);
        }

        /** Turned at their ends, and maybe with keys of several tokens. */
        public static Traits ofEnds(@Nullable AttentionLayer compressed) {
            return new Traits(false, null, null, null, null, true, compressed);
        }
    }

    /** Where the numbers of a head begin that turn. */
    public int turnsFrom() {
        return rope == null || !traits.turnsEnds
                ? 0
                : heads.keySize()
                        - 2 * Math.toIntExact(rope.inverseFrequencies().elements());
    }

    /** Attention as most families have it. */
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
            boolean bidirectional,
            boolean appends) {
        this(group, layer, heads, rope, queryNorm, keyNorm, scale, softCap, sinks, bidirectional, appends, Traits.NONE);
    }

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
        this(group, layer, heads, rope, queryNorm, keyNorm, scale, softCap, sinks, bidirectional, true);
    }
}
