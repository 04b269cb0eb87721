package roselle.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntUnaryOperator;
import roselle.api.CheckpointException;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Copies of matrices whose checkpoint stores them in another order than products want; they live as long as its arena.
 *
 * <p>Each matrix is copied once, whatever is wrong with its order. One that only counts gives matrices of the right shapes
 * with anything in them.
 */
final class Rearrangement {
    private static final int MICROSCALED_BYTES = DataType.MXFP4.blockBytes();

    private final Arena arena;
    private final boolean copies;
    private MemorySegment anything = MemorySegment.NULL;
    private long bytes;

    Rearrangement(Arena arena) {
        this(arena, true);
    }

    private Rearrangement(Arena arena, boolean copies) {
        this.arena = arena;
        this.copies = copies;
    }

    /** One that finds out what the copies would take; the arena is for what must be there though nobody looks at it. */
    static Rearrangement counting(Arena arena) {
        return new Rearrangement(arena, false);
    }

    /** Bytes of all copies so far. */
    long bytes() {
        return bytes;
    }

    private MemorySegment take(long size) {
        bytes += size;
        return arena.allocate(size, 64);
    }

    /** {@code [a, b]} as {@code [b, a]}. */
    StoredMatrix transpose(StoredMatrix matrix) {
        return transpose(matrix, row -> row);
    }

    /** {@code [a, b]} as {@code [b, a]}, whose row {@code i} is then column {@code source(i)} of the given one. */
    StoredMatrix transpose(StoredMatrix matrix, IntUnaryOperator source) {
        return StoredMatrix.of(transpose(whole(matrix, "transposed"), source));
    }

    private Tensor transpose(Tensor tensor, IntUnaryOperator source) {
        requirePlain(tensor);
        Shape turned = Shape.of(tensor.shape().columns(), tensor.shape().rows());
        long size = tensor.data().byteSize();
        if (!copies) {
            bytes += size;
            return new Tensor(tensor.name(), tensor.type(), turned, tensor.data());
        }
        MemorySegment target = take(size);
        long rows = turned.rows();
        long columns = turned.columns();
        int width = tensor.type().blockBytes();
        for (int row = 0; row < rows; row++) {
            long from = source.applyAsInt(row);
            for (long column = 0; column < columns; column++) {
                long at = (column * rows + from) * width;
                MemorySegment.copy(tensor.data(), at, target, (row * columns + column) * width, width);
            }
        }
        return new Tensor(tensor.name(), tensor.type(), turned, target);
    }

    /** The one tensor of a matrix; scales of another one would have to follow its rows. */
    private static Tensor whole(StoredMatrix matrix, String what) {
        return switch (matrix) {
            case StoredMatrix.Whole whole -> whole.codes();
            case StoredMatrix.Scaled scaled ->
                throw new CheckpointException("tensor " + matrix.name() + " has a scale for each "
                        + scaled.scales().group() + " and cannot be " + what
                        + "; convert the model to f32, f16 or bf16");
        };
    }

    private static void requirePlain(Tensor tensor) {
        if (tensor.type().isQuantized()) {
            throw new CheckpointException("tensor " + tensor.name() + " is "
                    + tensor.type().label() + " and cannot be transposed; convert the model to f32, f16 or bf16");
        }
    }

    /** {@code [a, b]} of any type as float32 {@code [b, a]}. */
    StoredMatrix transposeToFloats(StoredMatrix matrix) {
        Shape shape = Shape.of(matrix.shape().rows(), matrix.shape().columns());
        long size = shape.elements() * Float.BYTES;
        if (!copies) {
            bytes += size;
            return StoredMatrix.of(
                    new Tensor(matrix.name(), DataType.F32, Shape.of(shape.columns(), shape.rows()), anythingOf(size)));
        }
        var numbers = MemorySegment.ofArray(matrix.numbers());
        return StoredMatrix.of(transpose(new Tensor(matrix.name(), DataType.F32, shape, numbers), row -> row));
    }

    /** A matrix whose row {@code i} is the given one's row {@code source(i)}. */
    StoredMatrix reorder(StoredMatrix matrix, IntUnaryOperator source) {
        Tensor tensor = whole(matrix, "put in another order");
        if (!copies) {
            bytes += tensor.data().byteSize();
            return matrix;
        }
        long rowBytes = tensor.type().rowBytes(tensor.shape().columns());
        int rows = Math.toIntExact(tensor.shape().rows());
        MemorySegment target = take(tensor.data().byteSize());
        for (int row = 0; row < rows; row++) {
            MemorySegment.copy(tensor.data(), source.applyAsInt(row) * rowBytes, target, row * rowBytes, rowBytes);
        }
        return StoredMatrix.of(new Tensor(tensor.name(), tensor.type(), tensor.shape(), target));
    }

    /**
     * One matrix of MXFP4 as safetensors store it, {@code blocks [rows, columns / 32, 16]} with neighbours in a byte and
     * {@code scales [rows, columns / 32]}, in blocks of 17 bytes: the scale, then number {@code j} beside number
     * {@code j + 16}. Row {@code i} is the given one's row {@code source(i)}.
     */
    StoredMatrix microscaled(
            String name, MemorySegment blocks, MemorySegment scales, Shape shape, IntUnaryOperator source) {
        long size = DataType.MXFP4.rowBytes(shape.columns()) * shape.rows();
        if (!copies) {
            bytes += size;
            return StoredMatrix.of(new Tensor(name, DataType.MXFP4, shape, anythingOf(size)));
        }
        MemorySegment target = take(size);
        long perRow = shape.columns() / DataType.MXFP4.blockElements();
        for (int row = 0; row < shape.rows(); row++) {
            long from = source.applyAsInt(row) * perRow;
            for (long block = 0; block < perRow; block++) {
                long at = (row * perRow + block) * MICROSCALED_BYTES;
                target.set(JAVA_BYTE, at, scales.get(JAVA_BYTE, from + block));
                interleave(blocks, (from + block) * 16, target, at + 1);
            }
        }
        return StoredMatrix.of(new Tensor(name, DataType.MXFP4, shape, target));
    }

    /** Neighbours {@code 2i, 2i + 1} of 32 numbers of 4 bits become neighbours {@code j, j + 16}. */
    private static void interleave(MemorySegment source, long from, MemorySegment target, long to) {
        for (int j = 0; j < 16; j++) {
            int low = nibble(source, from, j);
            int high = nibble(source, from, j + 16);
            target.set(JAVA_BYTE, to + j, (byte) (low | high << 4));
        }
    }

    private static int nibble(MemorySegment source, long from, int number) {
        int pair = source.get(JAVA_BYTE, from + number / 2);
        return (pair >>> (number % 2 * 4)) & 0xf;
    }

    private MemorySegment anythingOf(long size) {
        if (anything.byteSize() < size) {
            anything = arena.allocate(size);
        }
        return anything.asSlice(0, size);
    }
}
