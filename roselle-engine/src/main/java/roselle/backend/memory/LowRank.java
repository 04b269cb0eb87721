package roselle.backend.memory;

import java.util.function.IntUnaryOperator;
import roselle.tensor.Tensor;

/**
 * What an adapter adds to some outputs of a weight (Hu et al., 2021): {@code scale * expand (shrink x)}.
 *
 * @param weight the weight, as its device made it
 * @param firstOutput of the weight's outputs the first that is added to; those of fused matrices follow each other
 * @param shrink {@code [rank, inputs]}, which PEFT calls A
 * @param expand {@code [outputs, rank]}, which PEFT calls B
 * @param order the row of {@code expand} that belongs to an output, counted from {@code firstOutput}
 */
public record LowRank(
        Weight weight, int firstOutput, Tensor shrink, Tensor expand, IntUnaryOperator order, float scale) {
    public LowRank {
        if (shrink.shape().columns() != weight.columns()
                || expand.shape().columns() != shrink.shape().rows()
                || firstOutput < 0
                || firstOutput + expand.shape().rows() > weight.rows()) {
            throw new IllegalArgumentException("matrices " + expand.shape() + " and " + shrink.shape() + " do not fit "
                    + weight.name() + " from output " + firstOutput + " on");
        }
    }

    public int rank() {
        return Math.toIntExact(shrink.shape().rows());
    }

    public int inputs() {
        return Math.toIntExact(shrink.shape().columns());
    }

    public int outputs() {
        return Math.toIntExact(expand.shape().rows());
    }
}
