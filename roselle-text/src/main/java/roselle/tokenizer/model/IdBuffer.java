package roselle.tokenizer.model;

import java.util.Arrays;

/** Token ids in the order in which a text's pieces yield them; grows as needed. Not thread-safe. */
public final class IdBuffer {
    private int[] ids;
    private int size;

    public IdBuffer(int expected) {
        ids = new int[Math.max(16, expected)];
    }

    public void add(int id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, Math.multiplyExact(size, 2));
        }
        ids[size++] = id;
    }

    public void addAll(int[] source, int from, int to) {
        int count = to - from;
        if (size + count > ids.length) {
            ids = Arrays.copyOf(ids, Math.max(size + count, 2 * size));
        }
        System.arraycopy(source, from, ids, size, count);
        size += count;
    }

    public int size() {
        return size;
    }

    int id(int index) {
        return ids[index];
    }

    /** Drops everything from {@code newSize} on. */
    void truncate(int newSize) {
        size = newSize;
    }

    /** A copy of the ids so far. */
    public int[] toArray() {
        return Arrays.copyOf(ids, size);
    }
}
