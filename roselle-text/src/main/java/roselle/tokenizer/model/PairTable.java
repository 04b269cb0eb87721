package roselle.tokenizer.model;

import java.util.Arrays;

/**
 * Which pairs of symbols merge, into what, and how soon: an open-addressing hash from two ids to rank and merged id,
 * with keys and values side by side so that a lookup touches one cache line.
 */
final class PairTable {
    /** What {@link #find} answers for a pair that does not merge. */
    static final long ABSENT = -1;

    private static final long FREE = -1;

    private long[] slots; // key at 2 i, value at 2 i + 1
    private int size;

    PairTable(int expected) {
        slots = free(Integer.highestOneBit(Math.max(expected, 8)) * 4);
    }

    private static long[] free(int capacity) {
        long[] slots = new long[2 * capacity];
        Arrays.fill(slots, FREE);
        return slots;
    }

    /** Says that {@code left} and {@code right} merge; a later word on the same pair replaces the earlier. */
    void put(int left, int right, int rank, int merged) {
        if (4 * size >= slots.length) {
            grow();
        }
        long key = key(left, right);
        int slot = slotOf(key);
        size += slots[slot] == FREE ? 1 : 0;
        slots[slot] = key;
        slots[slot + 1] = ((long) rank << 32) | merged;
    }

    /** Rank in the upper 32 bits and merged id in the lower, or {@link #ABSENT}. */
    long find(int left, int right) {
        int slot = slotOf(key(left, right));
        return slots[slot] == FREE ? ABSENT : slots[slot + 1];
    }

    private static long key(int left, int right) {
        return ((long) left << 32) | right;
    }

    private int slotOf(long key) {
        long[] all = slots;
        int mask = all.length - 1;
        long mixed = key * 0x9E3779B97F4A7C15L;
        int slot = ((int) (mixed >>> 32) << 1) & mask;
        while (all[slot] != FREE && all[slot] != key) {
            slot = (slot + 2) & mask;
        }
        return slot;
    }

    private void grow() {
        long[] old = slots;
        slots = free(old.length);
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != FREE) {
                int slot = slotOf(old[i]);
                slots[slot] = old[i];
                slots[slot + 1] = old[i + 1];
            }
        }
    }
}
