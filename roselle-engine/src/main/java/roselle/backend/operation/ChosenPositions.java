package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * The positions that each row of a step attends to, as device memory that {@link Operations#choosePositions} fills.
 *
 * @param positions I32 {@code [maxRows, choices, most]}: of a row and choice the first {@link #count}, ascending
 * @param choices one for all heads, or one for each head of keys
 * @param block positions that are chosen together, from multiples of it on; the last block of a row, which may end before its end, is
 *     always among them
 * @param most positions of a choice, a multiple of the block
 */
public record ChosenPositions(Buffer positions, int choices, int block, int most) {
    public ChosenPositions {
        if (choices < 1 || block < 1 || most < block || most % block != 0) {
            throw new IllegalArgumentException(
                    "impossible choice: " + choices + " of " + most + " positions in blocks of " + block);
        }
    }

    /** How many a row at a position attends to. */
    public int count(int position) {
        int blocks = Math.min(most / block, position / block + 1);
        return (blocks - 1) * block + position % block + 1;
    }

    /** Where the positions of a row and choice begin. */
    public long at(int row, int choice) {
        return ((long) row * choices + choice) * most;
    }
}
