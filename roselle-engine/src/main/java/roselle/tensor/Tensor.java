package roselle.tensor;

import java.lang.foreign.MemorySegment;

/**
 * A named array of numbers in memory; rows of the innermost extent follow each other without gaps.
 *
 * @param name as in the checkpoint
 * @param type layout of the numbers
 * @param shape extents, outermost first
 * @param data exactly {@code shape.rows() * type.rowBytes(shape.columns())} bytes, little-endian, borrowed
 */
public record Tensor(String name, DataType type, Shape shape, MemorySegment data) {
    public Tensor {
        long bytes = Math.multiplyExact(shape.rows(), type.rowBytes(shape.columns()));
        if (data.byteSize() != bytes) {
            throw new IllegalArgumentException("tensor " + name + " of " + type + " " + shape + " needs " + bytes
                    + " bytes, its segment has " + data.byteSize());
        }
    }

    /** Rows {@code first} until {@code first + count} of a two-dimensional view, without a copy. */
    public Tensor rows(long first, long count) {
        long rowBytes = type.rowBytes(shape.columns());
        return new Tensor(
                name, type, Shape.of(count, shape.columns()), data.asSlice(first * rowBytes, count * rowBytes));
    }
}
