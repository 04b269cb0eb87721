package roselle.model.spec;

import roselle.backend.Norm;

/**
 * The kind of normalisation that a decoder uses throughout.
 *
 * @param weightOffset 1 where the checkpoint stores the weight's distance from 1, else 0
 */
public record NormSpec(Norm.Kind kind, float epsilon, float weightOffset, boolean bias) {}
