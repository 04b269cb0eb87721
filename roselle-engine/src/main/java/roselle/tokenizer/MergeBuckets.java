package roselle.tokenizer;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;

/**
 * A queue for pieces of millions of characters, where a heap would miss the cache at each of its levels.
 *
 * <p>Waiting merges hang in one list per rank. When a rank's turn comes its positions are sorted once and served in
 * order, so that memory is walked forward. Merges normally offer only merges of higher rank; a lower one interrupts the
 * rank being served (which waits on a stack whose ranks fall towards the top), and one of the same rank goes into a
 * small heap beside the sorted positions. No order of ranks makes this worse than a heap by more than a constant.
 */
final class MergeBuckets implements MergeQueue {
    private static final int NONE = -1;

    private final int[] lists; // [ranks] the newest node, or NONE
    private final BitSet waiting = new BitSet();
    private final ArrayDeque<Serving> interrupted = new ArrayDeque<>();
    private long[] waitingMerges; // [nodes] position in the upper half, next older node of the list in the lower
    private int free = NONE;
    private int nodes;
    private Serving serving = new Serving(NONE, new int[0]);
    private int scanFrom;

    MergeBuckets(int ranks, int expected) {
        lists = new int[ranks];
        Arrays.fill(lists, NONE);
        waitingMerges = new long[Math.max(16, expected)];
    }

    @Override
    public void add(int rank, int position) {
        if (rank == serving.rank) {
            serving.late.add(0, position);
            serving.hasLate = true;
            return;
        }
        int node = takeNode();
        waitingMerges[node] = ((long) position << 32) | (lists[rank] & 0xFFFFFFFFL);
        lists[rank] = node;
        waiting.set(rank);
        scanFrom = Math.min(scanFrom, rank);
    }

    private int takeNode() {
        if (free != NONE) {
            int node = free;
            free = (int) waitingMerges[node];
            return node;
        }
        if (nodes == waitingMerges.length) {
            waitingMerges = Arrays.copyOf(waitingMerges, nodes + (nodes >> 1));
        }
        return nodes++;
    }

    @Override
    public long poll() {
        while (true) {
            if (scanFrom < serving.rank && waiting.nextSetBit(scanFrom) < serving.rank) {
                interrupted.push(serving);
                serve(waiting.nextSetBit(scanFrom));
            }
            int position = serving.next();
            if (position != NONE) {
                return ((long) serving.rank << 32) | position;
            }
            if (!advance()) {
                return EMPTY;
            }
        }
    }

    /** Turns to the lowest rank that waits, in a list or on the stack. */
    private boolean advance() {
        int listed = waiting.nextSetBit(Math.min(scanFrom, serving.rank + 1));
        Serving top = interrupted.peek();
        if (top != null && (listed < 0 || top.rank <= listed)) {
            serving = interrupted.pop();
            if (listed == serving.rank) {
                joinList();
            }
            scanFrom = serving.rank + 1;
            return true;
        }
        if (listed < 0) {
            return false;
        }
        serve(listed);
        return true;
    }

    private void serve(int rank) {
        serving = new Serving(rank, takeList(rank));
        scanFrom = rank + 1;
    }

    private void joinList() {
        for (int position : takeList(serving.rank)) {
            serving.late.add(0, position);
            serving.hasLate = true;
        }
    }

    /** Empties a rank's list into a sorted array. */
    private int[] takeList(int rank) {
        int[] taken = new int[16];
        int count = 0;
        boolean falling = true; // as the list is, newest first, if it was filled in order
        int last = lists[rank];
        for (int node = last; node != NONE; node = (int) waitingMerges[node]) {
            if (count == taken.length) {
                taken = Arrays.copyOf(taken, count * 2);
            }
            taken[count] = (int) (waitingMerges[node] >>> 32);
            falling &= count == 0 || taken[count] <= taken[count - 1];
            count++;
            last = node;
        }
        waitingMerges[last] = (waitingMerges[last] & 0xFFFFFFFF00000000L) | (free & 0xFFFFFFFFL);
        free = lists[rank];
        lists[rank] = NONE;
        waiting.clear(rank);
        return sorted(taken, count, falling);
    }

    private static int[] sorted(int[] taken, int count, boolean falling) {
        int[] sorted = new int[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = taken[count - 1 - i];
        }
        if (!falling) {
            Arrays.sort(sorted);
        }
        return sorted;
    }

    /** A rank whose merges are being made. */
    private static final class Serving {
        final int rank;
        final int[] sorted;
        final MergeHeap late = new MergeHeap(0);
        boolean hasLate;
        int cursor;

        Serving(int rank, int[] sorted) {
            this.rank = rank;
            this.sorted = sorted;
        }

        int next() {
            if (hasLate) {
                return nextOfBoth();
            }
            return cursor < sorted.length ? sorted[cursor++] : NONE;
        }

        private int nextOfBoth() {
            long first = late.poll();
            if (first == EMPTY) {
                hasLate = false;
                return next();
            }
            if (cursor < sorted.length && sorted[cursor] <= first) {
                late.add(0, (int) first);
                return sorted[cursor++];
            }
            return (int) first;
        }
    }
}
