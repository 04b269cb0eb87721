package roselle.tokenizer;

import java.util.Arrays;

/** A growing list of strings in one array of characters: no object for each. */
final class PackedStrings {
    private char[] characters = new char[1 << 12];
    private int[] ends = new int[1 << 10];
    private int size;

    void add(String text) {
        int start = end(size - 1);
        int end = Math.addExact(start, text.length());
        if (end > characters.length) {
            characters = Arrays.copyOf(characters, Math.max(end, Math.multiplyExact(characters.length, 2)));
        }
        if (size == ends.length) {
            ends = Arrays.copyOf(ends, size * 2);
        }
        text.getChars(0, text.length(), characters, start);
        ends[size++] = end;
    }

    int size() {
        return size;
    }

    String string(int index) {
        int start = end(index - 1);
        return new String(characters, start, ends[index] - start);
    }

    private int end(int index) {
        return index < 0 ? 0 : ends[index];
    }
}
