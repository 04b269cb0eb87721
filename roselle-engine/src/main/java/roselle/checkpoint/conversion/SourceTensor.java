package roselle.checkpoint.conversion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongUnaryOperator;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * A tensor under GGUF's name, with its rows where its file has them.
 *
 * @param tensor name, shape and numbers
 * @param order the row of the numbers that each row of the tensor is
 */
public record SourceTensor(Tensor tensor, LongUnaryOperator order) {
    /** Rows as they lie. */
    public static final LongUnaryOperator AS_STORED = row -> row;

    public SourceTensor(Tensor tensor) {
        this(tensor, AS_STORED);
    }

    /** A vector of float32 in memory of its own, which goes when nobody has it any more. */
    static SourceTensor ofVector(String name, float[] numbers) {
        MemorySegment data = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, numbers);
        return new SourceTensor(new Tensor(name, DataType.F32, Shape.of(numbers.length), data));
    }
}
