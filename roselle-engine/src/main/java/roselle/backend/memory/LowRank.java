package roselle.backend.memory;

import java.util.function.IntUnaryOperator;
import roselle.tensor.Tensor;

/**
 * What an adapter adds to some outputs of a weight (Hu et al., 2021): {@code scale * expand (shrink x)}; of a table, {@code scale *
 * expand (column of shrink)}, the one of the token.
 *
 * @param weight the weight, as its device made it
 * @param use the one in question
 * @param matrix of a stack the one that is added to; 0 where it is no stack
 * @param firstOutput of the matrix's outputs the first that is added to; those of fused matrices follow each other
 * @param shrink {@code [rank, inputs]}, which PEFT calls A; of a table {@code [rank, tokens]}
 * @param expand {@code [outputs, rank]}, which PEFT calls B
 * @param order the row of {@code expand} that belongs to an output, counted from {@code firstOutput}
 */
public record LowRank(
        Weight weight,
        Use use,
        int matrix,
        int firstOutput,
        Tensor shrink,
        Tensor expand,
        IntUnaryOperator order,
        float scale)
        implements AdapterPart {
    public LowRank {
        boolean isTable = use == Use.TABLE;
        if (shrink.shape().columns() != (isTable ? weight.rows() : weight.columns())
                || expand.shape().columns() != shrink.shape().rows()
                || matrix < 0
                || matrix >= weight.matrices()
                || firstOutput < 0
                || firstOutput + expand.shape().rows() > (isTable ? weight.columns() : weight.rows())) {
            throw new IllegalArgumentException("matrices " + expand.shape() + " and " + shrink.shape() + " do not fit "
                    + weight.name() + " from output " + firstOutput + " on");
        }
    }

    /** Of products with all rows. */
    public LowRank(Weight weight, int firstOutput, Tensor shrink, Tensor expand, IntUnaryOperator order, float scale) {
        this(weight, Use.PRODUCT, 0, firstOutput, shrink, expand, order, scale);
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
