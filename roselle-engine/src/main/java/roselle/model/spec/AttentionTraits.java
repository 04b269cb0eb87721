package roselle.model.spec;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.PositionScale;

/**
 * What few families have.
 *
 * @param outputScale multiplies what is attended
 * @param normsTurned whether the norms of queries and keys follow their rotation
 * @param slope multiplies the slope of each head by which scores fall with the distance of a key (ALiBi; Press et al., 2022); 0 for none
 * @param isChunked whether the window does not slide: a query sees what is behind the last multiple of it (Llama 4)
 * @param queryScale by what a query is multiplied once it is turned; null for nothing
 * @param gatesHeads whether the gate of a head is one number, and not one for each of its values
 * @param index what chooses the blocks of positions that are attended to; null for all
 * @param distances kinds of distances that queries and keys meet; null for none
 */
public record AttentionTraits(
        float outputScale,
        boolean normsTurned,
        float slope,
        boolean isChunked,
        @Nullable PositionScale queryScale,
        boolean gatesHeads,
        @Nullable IndexSpec index,
        @Nullable DistanceKinds distances) {
    public static final AttentionTraits NONE = new AttentionTraits(1f, false, 0f, false, null, false, null, null);

    public AttentionTraits withOutputScale(float scale) {
        return new AttentionTraits(scale, normsTurned, slope, isChunked, queryScale, gatesHeads, index, distances);
    }

    public AttentionTraits withNormsTurned() {
        return new AttentionTraits(outputScale, true, slope, isChunked, queryScale, gatesHeads, index, distances);
    }

    public AttentionTraits withSlopes(float factor) {
        return new AttentionTraits(
                outputScale, normsTurned, factor, isChunked, queryScale, gatesHeads, index, distances);
    }

    public AttentionTraits withChunks() {
        return new AttentionTraits(outputScale, normsTurned, slope, true, queryScale, gatesHeads, index, distances);
    }

    public AttentionTraits withQueryScale(@Nullable PositionScale scale) {
        return new AttentionTraits(outputScale, normsTurned, slope, isChunked, scale, gatesHeads, index, distances);
    }

    public AttentionTraits withHeadGates() {
        return new AttentionTraits(outputScale, normsTurned, slope, isChunked, queryScale, true, index, distances);
    }

    public AttentionTraits withIndex(IndexSpec choice) {
        return new AttentionTraits(
                outputScale, normsTurned, slope, isChunked, queryScale, gatesHeads, choice, distances);
    }

    public AttentionTraits withDistances(DistanceKinds kinds) {
        return new AttentionTraits(outputScale, normsTurned, slope, isChunked, queryScale, gatesHeads, index, kinds);
    }
}
