package roselle.tokenizer.model;

import java.util.Arrays;

/** A growing list of strings in one array of characters: no object for each. */
public final class PackedStrings {
    private char[] characters = new char[1 << 12];
    private int[] ends = new int[1 << 10];
    private int size;

    public void add(String text) {
        int start = reserve(text.length()); // may replace the array
        text.getChars(0, text.length(), characters, start);
    }

    public void add(char[] text, int from, int length) {
        int start = reserve(length); // may replace the array
        System.arraycopy(text, from, characters, start, length);
    }

    /** Makes room for one more string and returns where it begins. */
    private int reserve(int length) {
        int start = end(size - 1);
        int end = Math.addExact(start, length);
        if (end > characters.length) {
            characters = Arrays.copyOf(characters, Math.max(end, Math.multiplyExact(characters.length, 2)));
        }
        if (size == ends.length) {
            ends = Arrays.copyOf(ends, size * 2);
        }
        ends[size++] = end;
        return start;
    }

    /** The array that all strings lie in, one after the other; it changes when it grows. */
    public char[] characters() {
        return characters;
    }

    /** Where a string begins in {@link #characters}. */
    int start(int index) {
        return end(index - 1);
    }

    public void clear() {
        size = 0;
    }

    public int size() {
        return size;
    }

    public String string(int index) {
        int start = start(index);
        return new String(characters, start, ends[index] - start);
    }

    /** Where a string ends in {@link #characters}; 0 before the first. */
    public int end(int index) {
        return index < 0 ? 0 : ends[index];
    }
}
