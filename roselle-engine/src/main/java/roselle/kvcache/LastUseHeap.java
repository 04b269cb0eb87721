package roselle.kvcache;

import java.util.Arrays;

/** Nodes ordered by the time of their last use, or by another number that is less the sooner they go, the oldest first; any node can be taken out in O(log n). */
final class LastUseHeap {
    private final int[] heap; // nodes, in heap order
    private final int[] place; // [nodes] where a node stands in the heap; -1 where it does not
    private final long[] lastUse; // [nodes]
    private int size;

    LastUseHeap(int capacity) {
        heap = new int[capacity];
        place = new int[capacity];
        lastUse = new long[capacity];
        Arrays.fill(place, -1);
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean contains(int node) {
        return place[node] >= 0;
    }

    void add(int node, long time) {
        if (contains(node)) {
            throw new IllegalStateException("node " + node + " waits for eviction twice");
        }
        lastUse[node] = time;
        place[node] = size;
        heap[size] = node;
        siftUp(size++);
    }

    /** When the node used longest ago was; there must be one. */
    long oldest() {
        return lastUse[heap[0]];
    }

    /** Takes out the node used longest ago; there must be one. */
    int removeOldest() {
        if (size == 0) {
            throw new IllegalStateException("nothing waits for eviction");
        }
        int oldest = heap[0];
        remove(oldest);
        return oldest;
    }

    void remove(int node) {
        int hole = place[node];
        if (hole < 0) {
            return;
        }
        place[node] = -1;
        int last = heap[--size];
        if (last != node) {
            heap[hole] = last;
            place[last] = hole;
            siftUp(hole);
            siftDown(place[last]);
        }
    }

    private boolean isBefore(int a, int b) {
        return lastUse[a] < lastUse[b] || (lastUse[a] == lastUse[b] && a < b);
    }

    private void siftUp(int start) {
        int at = start;
        while (at > 0 && isBefore(heap[at], heap[(at - 1) / 2])) {
            swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    private void siftDown(int start) {
        int at = start;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], heap[at])) {
                return;
            }
            swap(at, child);
            at = child;
        }
    }

    private void swap(int a, int b) {
        int node = heap[a];
        heap[a] = heap[b];
        heap[b] = node;
        place[heap[a]] = a;
        place[heap[b]] = b;
    }
}
