package roselle.grammar.mask;

import java.util.Arrays;

/** A growing list of numbers. */
final class IntList {
    private static final int[] NONE = {};

    private int[] values = new int[16];
    private int size;

    void add(int value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, 2 * size);
        }
        values[size++] = value;
    }

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    int[] toArray() {
        return size == 0 ? NONE : Arrays.copyOf(values, size);
    }
}
