package roselle.quantization;

import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Where schemes put what a checkpoint stores in an order that products cannot read. */
public interface Copies {
    /** A number of a matrix, which fits a signed byte. */
    @FunctionalInterface
    interface Bytes {
        int at(long row, long column);
    }

    /** A matrix of signed bytes. */
    Tensor bytes(String name, Shape shape, Bytes numbers);

    /** {@code [a, b]} of floats as float32 {@code [b, a]}. */
    Tensor turned(Tensor floats);
}
