package roselle.checkpoint.file;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Where a header says a tensor lies.
 *
 * @param name as in the file
 * @param type layout of the numbers
 * @param shape extents, outermost first
 * @param position first byte in the file
 * @param bytes length
 */
public record TensorPlace(String name, DataType type, Shape shape, CheckedSize position, long bytes) {
    long start() {
        return position.value();
    }

    /** A shape whose size in bytes does not wrap around and whose rows are whole blocks of {@code type}. */
    public static Shape checkedShape(DataType type, FileField typeField, List<CheckedSize> extents) {
        long[] values = new long[extents.size()];
        long elements = 1;
        for (int axis = 0; axis < values.length; axis++) {
            CheckedSize extent = extents.get(axis);
            values[axis] = extent.value();
            elements = extent.times(elements).times(type.blockBytes()).value() / type.blockBytes();
        }
        if (values.length > 0) {
            extents.getLast().times(type.blockBytes()); // a row may be too long though there are no rows
            extents.getLast().multipleOf(type.blockElements(), "the elements of one block,");
        } else if (type.isQuantized()) {
            throw typeField.malformed(type.name(), "a scalar is no whole block");
        }
        return Shape.of(values);
    }

    public static long byteSize(DataType type, Shape shape) {
        return Math.multiplyExact(shape.rows(), type.rowBytes(shape.columns()));
    }

    public Tensor in(MappedFile file) {
        return new Tensor(name, type, shape, file.data().asSlice(start(), bytes));
    }

    /** Fails if two tensors share a byte. */
    public static void checkDisjoint(List<TensorPlace> places) {
        List<TensorPlace> sorted = new ArrayList<>(places);
        sorted.sort(Comparator.comparingLong(TensorPlace::start));
        TensorPlace before = null;
        for (TensorPlace place : sorted) {
            if (place.bytes == 0) {
                continue;
            }
            if (before != null && before.start() + before.bytes > place.start()) {
                throw place.position
                        .field()
                        .malformed(
                                place.position.stated(),
                                "its bytes overlap those of tensor " + FileField.excerpt(before.name));
            }
            before = place;
        }
    }
}
