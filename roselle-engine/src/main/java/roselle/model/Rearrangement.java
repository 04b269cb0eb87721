package roselle.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntUnaryOperator;
import roselle.api.CheckpointException;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Copies of matrices whose checkpoint stores them in another order than products want; they live as long as its arena. */
final class Rearrangement {
    private final Arena arena;

    Rearrangement(Arena arena) {
        this.arena = arena;
    }

    /** {@code [a, b]} as {@code [b, a]}. */
    Tensor transpose(Tensor tensor) {
        if (tensor.type().isQuantized()) {
            throw new CheckpointException("tensor " + tensor.name() + " is "
                    + tensor.type().label() + " and cannot be transposed; convert the model to f32, f16 or bf16");
        }
        long rows = tensor.shape().rows();
        long columns = tensor.shape().columns();
        int bytes = tensor.type().blockBytes();
        MemorySegment target = arena.allocate(tensor.data().byteSize(), 64);
        for (long row = 0; row < rows; row++) {
            for (long column = 0; column < columns; column++) {
                MemorySegment.copy(
                        tensor.data(), (row * columns + column) * bytes, target, (column * rows + row) * bytes, bytes);
            }
        }
        return new Tensor(tensor.name(), tensor.type(), Shape.of(columns, rows), target);
    }

    /** A matrix whose row {@code i} is the given one's row {@code source(i)}. */
    Tensor reorder(Tensor tensor, IntUnaryOperator source) {
        long rowBytes = tensor.type().rowBytes(tensor.shape().columns());
        int rows = Math.toIntExact(tensor.shape().rows());
        MemorySegment target = arena.allocate(tensor.data().byteSize(), 64);
        for (int row = 0; row < rows; row++) {
            MemorySegment.copy(tensor.data(), source.applyAsInt(row) * rowBytes, target, row * rowBytes, rowBytes);
        }
        return new Tensor(tensor.name(), tensor.type(), tensor.shape(), target);
    }

    /**
     * MXFP4 as safetensors store it, {@code blocks [rows, columns / 32, 16]} with neighbours in a byte and
     * {@code scales [rows, columns / 32]}, in blocks of 17 bytes: the scale, then number {@code j} beside number {@code j + 16}.
     */
    Tensor microscaled(Tensor blocks, Tensor scales, int rows, int columns) {
        MemorySegment target = arena.allocate(DataType.MXFP4.rowBytes(columns) * rows, 64);
        var numbers = new byte[32];
        for (long block = 0; block < (long) rows * (columns / 32); block++) {
            for (int i = 0; i < 16; i++) {
                byte pair = blocks.data().get(JAVA_BYTE, block * 16 + i);
                numbers[2 * i] = (byte) (pair & 0xf);
                numbers[2 * i + 1] = (byte) ((pair >>> 4) & 0xf);
            }
            target.set(JAVA_BYTE, block * 17, scales.data().get(JAVA_BYTE, block));
            for (int j = 0; j < 16; j++) {
                target.set(JAVA_BYTE, block * 17 + 1 + j, (byte) (numbers[j] | (numbers[j + 16] << 4)));
            }
        }
        return new Tensor(blocks.name(), DataType.MXFP4, Shape.of(rows, columns), target);
    }
}
