package roselle.model.spec;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;

/**
 * From the last hidden numbers to logits.
 *
 * @param tied whether the embedding is the output matrix too
 * @param scale multiplies the logits
 * @param softCap {@code c} of {@code c * tanh(logit / c)}; 0 for none
 * @param transform behind a product of its own, before a norm of its own, as encoders that guess masked tokens have them; null for
 *     neither
 */
public record OutputSpec(
        boolean tied,
        boolean bias,
        float scale,
        float softCap,
        @Nullable Activation transform) {
    /** Of hidden numbers as they are. */
    public OutputSpec(boolean tied, boolean bias, float scale, float softCap) {
        this(tied, bias, scale, softCap, null);
    }

    OutputSpec withTied(boolean isTied) {
        return new OutputSpec(isTied, bias, scale, softCap, transform);
    }
}
