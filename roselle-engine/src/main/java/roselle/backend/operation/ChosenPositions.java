package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * The positions that each row of a step attends to, as device memory that {@link Operations#choosePositions} fills.
 *
 * @param positions I32 {@code [maxRows, choices, room]}: of a row and choice the first {@link #count}, ascending
 * @param choices one for all heads, or one for each head of keys
 * @param block positions that are chosen together, from multiples of it on; the last block of a row, which may end before its end, is
 *     always among them
 * @param most positions of a choice, a multiple of the block; those behind the last whole block are not counted where they are no block
 * @param tokens of which each key is made that is chosen in the place of a position ({@link roselle.backend.memory.KvGroup#tokens}); 1
 *     for positions
 * @param choosesWhole whether blocks are chosen only once they are whole; what is behind the last such block is attended to besides
 */
public record ChosenPositions(Buffer positions, int choices, int block, int most, int tokens, boolean choosesWhole) {
    /** A choice of positions. */
    public ChosenPositions(Buffer positions, int choices, int block, int most) {
        this(positions, choices, block, most, 1, false);
    }

    public ChosenPositions {
        if (choices < 1 || block < 1 || most < block || most % block != 0 || tokens < 1 || (tokens > 1 && block > 1)) {
            throw new IllegalArgumentException(
                    "impossible choice: " + choices + " of " + most + " positions in blocks of " + block);
        }
    }

    /** How many a row at a position attends to. */
    public int count(int position) {
        if (tokens > 1) {
            return Math.min(most, (position + 1) / tokens);
        }
        if (choosesWhole) {
            return Math.min(most / block, (position + 1) / block) * block + (position + 1) % block;
        }
        int blocks = Math.min(most / block, position / block + 1);
        return (blocks - 1) * block + position % block + 1;
    }

    /** Where the positions of a row and choice begin. */
    public long at(int row, int choice) {
        return ((long) row * choices + choice) * (choosesWhole ? most + block - 1 : most);
    }
}
