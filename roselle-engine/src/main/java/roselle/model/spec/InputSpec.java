package roselle.model.spec;

/**
 * From token ids to the first hidden numbers.
 *
 * @param scale multiplies embeddings
 * @param learnedPositions whether each position has an embedding of its own
 * @param firstPosition rows of the table of positions before that of the first token (RoBERTa)
 * @param types rows of the table that tells the texts of a pair apart; 0 for none
 * @param norms whether the sum is normalised
 */
public record InputSpec(float scale, boolean learnedPositions, int firstPosition, int types, boolean norms) {}
