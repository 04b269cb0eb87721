package roselle.model.spec;

/**
 * From the last hidden numbers to logits.
 *
 * @param tied whether the embedding is the output matrix too
 * @param scale multiplies the logits
 * @param softCap {@code c} of {@code c * tanh(logit / c)}; 0 for none
 */
public record OutputSpec(boolean tied, boolean bias, float scale, float softCap) {}
