package roselle.model.spec;

import org.jspecify.annotations.Nullable;

/**
 * From token ids to the first hidden numbers.
 *
 * @param scale multiplies embeddings
 * @param learnedPositions whether each position has an embedding of its own
 * @param firstPosition rows of the table of positions before that of the first token (RoBERTa)
 * @param distanceBuckets kinds of distances that attention tells apart, each of which adds a number to scores; 0 for none
 * @param types rows of the table that tells the texts of a pair apart; 0 for none
 * @param norms whether the sum is normalised
 * @param tasks adapters of single tasks; null for none
 * @param layers what each layer is told of a token by itself; null for nothing
 */
public record InputSpec(
        float scale,
        boolean learnedPositions,
        int firstPosition,
        int distanceBuckets,
        int types,
        boolean norms,
        @Nullable TaskSpec tasks,
        @Nullable LayerInputs layers) {}
