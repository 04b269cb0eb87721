package roselle.quantization;

import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Where schemes put what a checkpoint stores in an order that products cannot read. */
public interface Copies {
    /** A small whole number of a matrix. */
    @FunctionalInterface
    interface Integers {
        int at(long row, long column);
    }

    /** A number of a matrix. */
    @FunctionalInterface
    interface Floats {
        float at(long row, long column);
    }

    /** A matrix of bytes, of each number the lowest eight bits. */
    Tensor bytes(String name, Shape shape, Integers numbers);

    /** A matrix of bfloat16, which has all whole numbers up to 256. */
    Tensor bfloats(String name, Shape shape, Integers numbers);

    /** A matrix of float32. */
    Tensor floats(String name, Shape shape, Floats numbers);

    /** A matrix put together from codes and scales that lie apart. */
    StoredMatrix joined(SplitBlocks matrix);

    /** {@code [a, b]} of floats as float32 {@code [b, a]}. */
    Tensor turned(Tensor floats);
}
