package roselle.quantization;

import java.util.Arrays;
import java.util.Optional;

/**
 * An order of a matrix's columns in which those that share a scale are neighbours: what devices multiply whose blocks have a scale
 * each. The numbers of a row that is multiplied have to be put in the same order.
 */
public final class ColumnOrder {
    private final int[] columns;

    private ColumnOrder(int[] columns) {
        this.columns = columns;
    }

    /**
     * The columns of each group behind those of the group before, else as they were; empty where a group has not as many as the
     * scales say, but for the last.
     */
    static Optional<ColumnOrder> of(GroupScales scales, int columns) {
        int together = Math.toIntExact(Math.min(columns, scales.group().columns()));
        int groups = Math.ceilDiv(columns, together);
        int[] counts = new int[groups];
        int[] order = new int[columns];
        for (int column = 0; column < columns; column++) {
            int group = Math.toIntExact(scales.beside(column));
            if (group >= groups || counts[group] == Math.min(together, columns - group * together)) {
                return Optional.empty();
            }
            order[group * together + counts[group]++] = column;
        }
        return Optional.of(new ColumnOrder(order));
    }

    /** The column that comes to a place. */
    public int at(int place) {
        return columns[place];
    }

    /** The column of each place. */
    public int[] columns() {
        return columns.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ColumnOrder order && Arrays.equals(columns, order.columns);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(columns);
    }
}
