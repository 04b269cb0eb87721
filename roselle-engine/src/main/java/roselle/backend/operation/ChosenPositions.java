package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * The positions that each row of a step attends to, as device memory that {@link Operations#choosePositions} fills.
 *
 * @param positions I32 {@code [maxRows, most]}: of a row at position {@code p} the first {@code min(most, p + 1)}, ascending
 */
public record ChosenPositions(Buffer positions, int most) {
    public ChosenPositions {
        if (most < 1) {
            throw new IllegalArgumentException(most + " positions to attend to, expected 1 or more");
        }
    }

    /** How many a row at a position attends to. */
    public int count(int position) {
        return Math.min(most, position + 1);
    }
}
