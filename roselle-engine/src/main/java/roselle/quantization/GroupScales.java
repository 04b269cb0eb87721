package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * The scales of a matrix in a tensor of their own, read in place.
 *
 * @param grid a scale for each group, {@code [groups below each other, groups beside each other]}
 * @param firstRow the matrix's first row, counted as the grid counts
 */
public record GroupScales(Group group, Tensor grid, long firstRow) {
    public GroupScales {
        if (!areNumbers(grid.type())) {
            throw new IllegalArgumentException("scales of type " + grid.type().label());
        }
    }

    /** Whether scales can be of a type. */
    static boolean areNumbers(DataType type) {
        return type == DataType.F32 || type == DataType.F16 || type == DataType.BF16;
    }

    /** The scale of a number of the matrix. */
    public float at(long row, long column) {
        long below = (firstRow + row) / group.rows();
        return number(below * grid.shape().columns() + column / group.columns());
    }

    /** The same scales for a matrix that begins some rows later. */
    GroupScales from(long row) {
        return new GroupScales(group, grid, firstRow + row);
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
    Dequantizer over(Tensor codes) {
        Dequantizer values = Dequantizer.of(codes.type());
        long columns = codes.shape().columns();
        int codeBytes = codes.type().blockBytes();
        return (source, offset, target, start, elements) -> {
            values.dequantize(source, offset, target, start, elements);
            long first = offset / codeBytes;
            int i = 0;
            while (i < elements) {
                long column = (first + i) % columns;
                float scale = at((first + i) / columns, column);
                long end = Math.min(columns, group.end(column)) - column;
                for (int last = (int) Math.min(elements, i + end); i < last; i++) {
                    target[start + i] *= scale;
                }
            }
        };
    }
}
