package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * The scales of a matrix in a tensor of their own, read in place.
 *
 * @param grid a scale for each group, {@code [groups below each other, groups beside each other]}
 * @param firstRow the matrix's first row, counted as the grid counts
 * @param order the group of each column, int32, where neighbours need not share one (GPTQ's act-order); null where they do
 */
public record GroupScales(
        Group group, Tensor grid, long firstRow, @Nullable Tensor order) {
    public GroupScales {
        if (!areNumbers(grid.type())) {
            throw new IllegalArgumentException("scales of type " + grid.type().label());
        }
    }

    public GroupScales(Group group, Tensor grid, long firstRow) {
        this(group, grid, firstRow, null);
    }

    /** Whether scales can be of a type. */
    static boolean areNumbers(DataType type) {
        return type == DataType.F32 || type == DataType.F16 || type == DataType.BF16;
    }

    /** The scale of a number of the matrix. */
    public float at(long row, long column) {
        long below = (firstRow + row) / group.rows();
        return number(below * grid.shape().columns() + beside(column));
    }

    /** Which of the groups beside each other a column is of. */
    long beside(long column) {
        Tensor given = order;
        return given == null ? column / group.columns() : given.data().get(JAVA_INT_UNALIGNED, column * Integer.BYTES);
    }

    /** A column up to which all from a given one on share their scale. */
    public long end(long column) {
        return order == null ? group.end(column) : column + 1;
    }

    /** The same scales for a matrix that begins some rows later. */
    GroupScales from(long row) {
        return new GroupScales(group, grid, firstRow + row, order);
    }

    /** Bytes of those that belong to a matrix. */
    long bytes(Shape matrix) {
        return group.grid(matrix).elements() * grid.type().blockBytes();
    }

    float number(long index) {
        MemorySegment data = grid.data();
        return switch (grid.type()) {
            case F32 -> data.get(JAVA_FLOAT_UNALIGNED, index * Float.BYTES);
            case F16 -> Float.float16ToFloat(data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES));
            case BF16 -> Float.intBitsToFloat(data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES) << 16);
            default ->
                throw new IllegalStateException("scales of type " + grid.type().label());
        };
    }

    /** The way from codes to numbers: each code's value times its scale, rounded once to float32. */
    Dequantizer over(Tensor codes, Dequantizer values) {
        long columns = codes.shape().columns();
        int codeBytes = codes.type().blockBytes();
        return (source, offset, target, start, elements) -> {
            values.dequantize(source, offset, target, start, elements);
            long first = offset / codeBytes;
            int i = 0;
            while (i < elements) {
                long column = (first + i) % columns;
                float scale = at((first + i) / columns, column);
                long end = Math.min(columns, end(column)) - column;
                for (int last = (int) Math.min(elements, i + end); i < last; i++) {
                    target[start + i] *= scale;
                }
            }
        };
    }
}
