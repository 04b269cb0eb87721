package roselle.backend.memory;

/**
 * A view of a buffer as rows of numbers: element {@code (row, column)} lies at {@code offset + row * stride + column}.
 *
 * <p>Views are made once, when a decoder opens; operations read and write through them without a copy.
 *
 * @param columns numbers of a row that belong to the view
 * @param stride numbers from one row of the buffer to the next, at least {@code columns}; 0 where every row is the
 *     same, which is only read
 */
public record Rows(Buffer buffer, long offset, int columns, int stride) {
    public Rows {
        if (offset < 0 || columns < 1 || (stride < columns && stride != 0) || offset + columns > buffer.elements()) {
            throw new IllegalArgumentException("columns " + columns + " at " + offset + " with stride " + stride
                    + " do not fit a buffer of " + buffer.elements() + " elements");
        }
    }

    /** A whole buffer as gapless rows. */
    public static Rows of(Buffer buffer, int columns) {
        return new Rows(buffer, 0, columns, columns);
    }

    /** The view without its first rows. */
    public Rows from(int row) {
        return row == 0 ? this : new Rows(buffer, offset + (long) row * stride, columns, stride);
    }

    /** The view of some columns of each row. */
    public Rows columns(int first, int count) {
        if (first < 0 || first + count > columns) {
            throw new IllegalArgumentException(
                    "columns " + first + " to " + (first + count) + " of a view that has " + columns);
        }
        return new Rows(buffer, offset + first, count, stride);
    }
}
