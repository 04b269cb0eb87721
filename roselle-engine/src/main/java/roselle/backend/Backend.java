package roselle.backend;

import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/** A device that holds weights and runs the fused operations a decoder is made of. */
public interface Backend extends AutoCloseable {
    /** What flags and metrics call it: {@code cpu}, {@code cuda:0}. */
    String name();

    /** An array of {@code elements} numbers that lives until the backend closes. */
    Buffer allocate(DataType type, long elements);

    /** Makes a checkpoint's tensor usable as a weight; it may keep reading {@code tensor}'s memory in place. */
    Weight load(Tensor tensor);

    @Override
    void close();
}
