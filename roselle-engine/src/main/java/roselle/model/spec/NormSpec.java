package roselle.model.spec;

import roselle.backend.operation.Norm;

/**
 * The kind of normalisation that a decoder uses throughout.
 *
 * @param weightOffset 1 where the checkpoint stores the weight's distance from 1, else 0
 */
public record NormSpec(Norm.Kind kind, float epsilon, float weightOffset, boolean bias) {
    public NormSpec {
        if (!(epsilon >= 0) || Float.isInfinite(epsilon)) {
            throw new IllegalArgumentException("the epsilon of norms is " + epsilon + ", expected 0 or more");
        }
    }
}
