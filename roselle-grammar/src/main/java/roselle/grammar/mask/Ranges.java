package roselle.grammar.mask;

import java.util.Arrays;

/** A growing list of ranges of numbers, in their order. */
final class Ranges {
    private int[] first = new int[16];
    private int[] end = new int[16];
    private int size;

    /** Adds the numbers from one to before another, all behind those that are there. */
    void add(int from, int to) {
        if (size > 0 && end[size - 1] == from) {
            end[size - 1] = to;
            return;
        }
        if (size == first.length) {
            first = Arrays.copyOf(first, 2 * size);
            end = Arrays.copyOf(end, 2 * size);
        }
        first[size] = from;
        end[size++] = to;
    }

    boolean has(int number) {
        int found = Arrays.binarySearch(first, 0, size, number);
        return found >= 0 || (found < -1 && number < end[-found - 2]);
    }

    /** How many numbers there are. */
    int count() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += end[i] - first[i];
        }
        return count;
    }

    int size() {
        return size;
    }

    int first(int which) {
        return first[which];
    }

    int end(int which) {
        return end[which];
    }
}
