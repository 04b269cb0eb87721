package roselle.quantization;

import roselle.tensor.Shape;

/**
 * Neighbours of a matrix that share a scale: so many rows of so many columns, beginning at multiples of both. The last ones of
 * either kind may be fewer.
 */
public record Group(long rows, long columns) {
    public Group {
        if (rows < 1 || columns < 1) {
            throw new IllegalArgumentException("a group of " + rows + " rows and " + columns + " columns");
        }
    }

    /** How many groups a matrix has, one below and one beside the other. */
    public Shape grid(Shape matrix) {
        return Shape.of(Math.ceilDiv(matrix.rows(), rows), Math.ceilDiv(matrix.columns(), columns));
    }

    /** The first column behind the group that has a column. */
    public long end(long column) {
        return (column / columns + 1) * columns;
    }

    @Override
    public String toString() {
        return rows + "×" + columns;
    }
}
