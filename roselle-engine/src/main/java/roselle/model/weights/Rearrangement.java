package roselle.model.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.LongStream;
import roselle.api.CheckpointException;
import roselle.quantization.Copies;
import roselle.quantization.GroupScales;
import roselle.quantization.SplitBlocks;
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
public final class Rearrangement implements Copies {
    private final Arena arena;
    private final boolean copies;
    private MemorySegment anything = MemorySegment.NULL;
    private final Map<String, IntUnaryOperator> orders = new HashMap<>(); // of rows, by tensor
    private long bytes;

    public Rearrangement(Arena arena) {
        this(arena, true);
    }

    private Rearrangement(Arena arena, boolean copies) {
        this.arena = arena;
        this.copies = copies;
    }

    /** One that finds out what the copies would take; the arena is for what must be there though nobody looks at it. */
    public static Rearrangement counting(Arena arena) {
        return new Rearrangement(arena, false);
    }

    /** Bytes of all copies so far. */
    public long bytes() {
        return bytes;
    }

    /** The row of a tensor that a row of the matrix is that was loaded of it. */
    public IntUnaryOperator order(String tensor) {
        return orders.getOrDefault(tensor, IntUnaryOperator.identity());
    }

    private MemorySegment take(long size) {
        bytes += size;
        return arena.allocate(size, 64);
    }

    /** {@code [a, b]} as {@code [b, a]}. */
    public StoredMatrix transpose(StoredMatrix matrix) {
        return transpose(matrix, row -> row);
    }

    /** {@code [a, b]} as {@code [b, a]}, whose row {@code i} is then column {@code source(i)} of the given one. */
    public StoredMatrix transpose(StoredMatrix matrix, IntUnaryOperator source) {
        return StoredMatrix.of(transpose(whole(matrix, "transposed"), source));
    }

    private Tensor transpose(Tensor tensor, IntUnaryOperator source) {
        requirePlain(tensor);
        orders.put(tensor.name(), source);
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
            case StoredMatrix.Scaled scaled -> throw moved(matrix, scaled.scales(), what);
            case StoredMatrix.Tabled tabled -> throw moved(matrix, tabled.scales(), what);
        };
    }

    private static CheckpointException moved(StoredMatrix matrix, GroupScales scales, String what) {
        return new CheckpointException("tensor " + matrix.name() + " has a scale for each " + scales.group()
                + " and cannot be " + what + "; convert the model to f32, f16 or bf16");
    }

    private static void requirePlain(Tensor tensor) {
        if (tensor.type().isQuantized()) {
            throw new CheckpointException("tensor " + tensor.name() + " is "
                    + tensor.type().label() + " and cannot be transposed; convert the model to f32, f16 or bf16");
        }
    }

    /** {@code [a, b]} of any type as float32 {@code [b, a]}. */
    public StoredMatrix transposeToFloats(StoredMatrix matrix) {
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
    public StoredMatrix reorder(StoredMatrix matrix, IntUnaryOperator source) {
        Tensor tensor = whole(matrix, "put in another order");
        orders.put(tensor.name(), source);
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

    /** A matrix with each row as often as wanted, one behind the other. */
    public StoredMatrix repeat(StoredMatrix matrix, int times) {
        Tensor tensor = whole(matrix, "repeated");
        orders.put(tensor.name(), row -> row / times);
        Shape shape = Shape.of(tensor.shape().rows() * times, tensor.shape().columns());
        long rowBytes = tensor.type().rowBytes(shape.columns());
        long size = rowBytes * shape.rows();
        if (!copies) {
            bytes += size;
            return StoredMatrix.of(new Tensor(tensor.name(), tensor.type(), shape, anythingOf(size)));
        }
        MemorySegment target = take(size);
        for (long row = 0; row < shape.rows(); row++) {
            MemorySegment.copy(tensor.data(), row / times * rowBytes, target, row * rowBytes, rowBytes);
        }
        return StoredMatrix.of(new Tensor(tensor.name(), tensor.type(), shape, target));
    }

    /** A matrix put together from codes and scales that lie apart; row {@code i} is the given one's row {@code source(i)}. */
    public StoredMatrix gather(SplitBlocks matrix, IntUnaryOperator source) {
        orders.put(matrix.name(), source);
        DataType type = matrix.type();
        Shape shape = matrix.shape();
        long rowBytes = type.rowBytes(shape.columns());
        long size = rowBytes * shape.rows();
        if (!copies) {
            bytes += size;
            return StoredMatrix.of(new Tensor(matrix.name(), type, shape, anythingOf(size)));
        }
        MemorySegment target = take(size);
        for (int row = 0; row < shape.rows(); row++) {
            matrix.writeRow(source.applyAsInt(row), target, row * rowBytes);
        }
        return StoredMatrix.of(new Tensor(matrix.name(), type, shape, target));
    }

    @Override
    public Tensor bytes(String name, Shape shape, Integers numbers) {
        return filled(
                name,
                DataType.I8,
                shape,
                (target, index, row, column) ->
                        target.set(ValueLayout.JAVA_BYTE, index, (byte) numbers.at(row, column)));
    }

    @Override
    public Tensor bfloats(String name, Shape shape, Integers numbers) {
        return filled(
                name,
                DataType.BF16,
                shape,
                (target, index, row, column) -> target.setAtIndex(ValueLayout.JAVA_SHORT, index, (short)
                        (Float.floatToRawIntBits(numbers.at(row, column)) >>> 16)));
    }

    @Override
    public Tensor floats(String name, Shape shape, Floats numbers) {
        return filled(
                name,
                DataType.F32,
                shape,
                (target, index, row, column) ->
                        target.setAtIndex(ValueLayout.JAVA_FLOAT, index, numbers.at(row, column)));
    }

    @Override
    public StoredMatrix joined(SplitBlocks matrix) {
        return gather(matrix, row -> row);
    }

    /** Sets a number of a copy. */
    @FunctionalInterface
    private interface Setter {
        void set(MemorySegment target, long index, long row, long column);
    }

    private Tensor filled(String name, DataType type, Shape shape, Setter setter) {
        long size = shape.elements() * type.blockBytes();
        if (!copies) {
            bytes += size;
            return new Tensor(name, type, shape, anythingOf(size));
        }
        MemorySegment target = take(size);
        long columns = shape.columns();
        LongStream.range(0, shape.rows()).parallel().forEach(row -> {
            for (long column = 0; column < columns; column++) {
                setter.set(target, row * columns + column, row, column);
            }
        });
        return new Tensor(name, type, shape, target);
    }

    @Override
    public Tensor turned(Tensor floats) {
        return transposeToFloats(StoredMatrix.of(floats)).codes();
    }

    private MemorySegment anythingOf(long size) {
        if (anything.byteSize() < size) {
            anything = arena.allocate(size);
        }
        return anything.asSlice(0, size);
    }
}
