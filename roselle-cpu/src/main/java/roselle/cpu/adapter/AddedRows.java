package roselle.cpu.adapter;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Rows of inputs and outputs of a product, those that get the same addition behind each other. */
final class AddedRows {
    private @Nullable Addition[] additions = new Addition[0]; // [groups]
    private int[] end = new int[0]; // [groups]
    private int[] from = new int[0]; // input rows
    private int[] to = new int[0]; // output rows
    private int groups;
    private int rows;

    /** Forgets all and makes room. */
    void clear(int mostGroups, int mostRows) {
        Arrays.fill(additions, 0, groups, null);
        groups = 0;
        rows = 0;
        if (additions.length < mostGroups) {
            additions = new Addition[mostGroups];
            end = new int[mostGroups];
        }
        if (from.length < mostRows) {
            from = new int[mostRows];
            to = new int[mostRows];
        }
    }

    /** A row of the group that the next {@link #close} ends. */
    void add(int input, int output) {
        from[rows] = input;
        to[rows++] = output;
    }

    void close(Addition addition) {
        additions[groups] = addition;
        end[groups++] = rows;
    }

    int groups() {
        return groups;
    }

    int rows() {
        return rows;
    }

    Addition addition(int group) {
        Addition addition = additions[group];
        if (addition == null) {
            throw new IllegalStateException("group " + group + " of " + groups);
        }
        return addition;
    }

    int first(int group) {
        return group == 0 ? 0 : end[group - 1];
    }

    int end(int group) {
        return end[group];
    }

    int input(int index) {
        return from[index];
    }

    int output(int index) {
        return to[index];
    }
}
