package roselle.quantization.recipe;

import java.util.function.LongUnaryOperator;
import roselle.checkpoint.conversion.SourceTensor;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * A tensor of the converted model.
 *
 * @param name in the new file
 * @param shape in the new file
 * @param source its numbers
 * @param order the source's row that each row is
 * @param type in the new file
 */
public record PlannedTensor(String name, Shape shape, StoredMatrix source, LongUnaryOperator order, DataType type) {
    /** Bytes in the new file. */
    public long bytes() {
        return shape.rows() * type.rowBytes(shape.columns());
    }

    /** Whether the bytes stay as they are. */
    public boolean isCopied() {
        return order.equals(SourceTensor.AS_STORED)
                && source instanceof StoredMatrix.Whole whole
                && whole.codes().type() == type;
    }
}
