package roselle.backend.memory;

import org.jspecify.annotations.Nullable;
import roselle.tensor.Tensor;

/**
 * A matrix that an adapter has in the place of a weight's, for its embedding or its logits.
 *
 * @param weight the weight, as its device made it
 * @param use the one in question
 * @param matrix {@code [rows, columns]} of the weight
 * @param bias of logits, {@code [rows]}; null for none
 */
public record OwnMatrix(
        Weight weight, Use use, Tensor matrix, @Nullable Tensor bias) implements AdapterPart {
    public OwnMatrix {
        if (matrix.shape().rows() != weight.rows()
                || matrix.shape().columns() != weight.columns()
                || (use != Use.TABLE && use != Use.LOGITS)) {
            throw new IllegalArgumentException(
                    "a matrix " + matrix.shape() + " cannot stand in the place of " + weight.name() + " for " + use);
        }
    }
}
