package roselle.tokenizer.model;

import java.util.Arrays;

/** The merges that symbols still offer, the lowest rank first and among equals the leftmost first: a binary heap. */
final class MergeHeap {
    /** What {@link #poll} answers when nothing is left. */
    static final long EMPTY = -1;

    private long[] heap;
    private int size;

    MergeHeap(int expected) {
        heap = new long[Math.max(8, expected)];
    }

    void add(int rank, int position) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        long entry = ((long) rank << 32) | position;
        int at = size++;
        while (at > 0 && heap[(at - 1) >>> 1] > entry) {
            heap[at] = heap[(at - 1) >>> 1];
            at = (at - 1) >>> 1;
        }
        heap[at] = entry;
    }

    /** Takes the next merge: rank in the upper 32 bits, position in the lower. */
    long poll() {
        if (size == 0) {
            return EMPTY;
        }
        long first = heap[0];
        sink(heap[--size]);
        return first;
    }

    private void sink(long entry) {
        long[] entries = heap;
        int at = 0;
        int child = 1;
        while (child < size) {
            if (child + 1 < size && entries[child + 1] < entries[child]) {
                child++;
            }
            if (entries[child] >= entry) {
                break;
            }
            entries[at] = entries[child];
            at = child;
            child = 2 * at + 1;
        }
        entries[at] = entry;
    }
}
