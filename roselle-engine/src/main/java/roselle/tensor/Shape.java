package roselle.tensor;

import java.util.Arrays;

/** The extents of a tensor, outermost first; the last one is contiguous in memory. */
public final class Shape {
    private final long[] extents;

    private Shape(long[] extents) {
        this.extents = extents;
    }

    /** A shape of the given extents, none of them negative, whose product fits a {@code long}. */
    public static Shape of(long... extents) {
        long elements = 1;
        for (long extent : extents) {
            if (extent < 0) {
                throw new IllegalArgumentException("negative extent in " + Arrays.toString(extents));
            }
            elements = Math.multiplyExact(elements, extent);
        }
        return new Shape(extents.clone());
    }

    public int rank() {
        return extents.length;
    }

    /** The extent of one axis, counted from the outermost. */
    public long extent(int axis) {
        return extents[axis];
    }

    /** The innermost extent; 1 for a scalar. */
    public long columns() {
        return extents.length == 0 ? 1 : extents[extents.length - 1];
    }

    /** The product of all extents but the innermost. */
    public long rows() {
        long rows = 1;
        for (int axis = 0; axis < extents.length - 1; axis++) {
            rows *= extents[axis];
        }
        return rows;
    }

    public long elements() {
        return rows() * columns();
    }

    public long[] toArray() {
        return extents.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape shape && Arrays.equals(extents, shape.extents);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(extents);
    }

    @Override
    public String toString() {
        return Arrays.toString(extents);
    }
}
