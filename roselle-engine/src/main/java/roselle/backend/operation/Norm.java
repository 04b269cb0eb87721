package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;

/**
 * A normalisation of the numbers of a row: {@code (x - m) / sqrt(v + epsilon) * (weight + weightOffset) + bias}.
 *
 * <p>For {@code RMS}, {@code m} is 0 and {@code v} the mean square (Zhang and Sennrich, 2019); for {@code LAYER}, mean and
 * variance (Ba et al., 2016). Where one head of a row is normalised and {@code weight} is longer than the head, each head
 * has its own part of it.
 *
 * @param weight F32
 * @param weightOffset 1 where a checkpoint stores the weight's distance from 1 (Gemma), else 0
 * @param bias F32, as long as {@code weight}; null for none
 */
public record Norm(
        Kind kind,
        Buffer weight,
        float weightOffset,
        @Nullable Buffer bias,
        float epsilon) {
    /** Which moments are taken out of the row. */
    public enum Kind {
        RMS,
        LAYER
    }
}
