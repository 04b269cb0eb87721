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
    private int[] positions; // [nodes]
    private int[] links; // [nodes] the next older node of the list
    private int free = NONE;
    private int nodes;
    private Serving serving = new Serving(NONE, new int[0]);
    private int scanFrom;

    MergeBuckets(int ranks, int expected) {
        lists = new int[ranks];
        Arrays.fill(lists, NONE);
        positions = new int[Math.max(16, expected)];
        links = new int[positions.length];
    }

    @Override
    public void add(int rank, int position) {
        if (rank == serving.rank) {
            serving.late.add(0, position);
            serving.hasLate = true;
            return;
        }
        int node = takeNode();
        positions[node] = position;
        links[node] = lists[rank];
        lists[rank] = node;
        waiting.set(rank);
        scanFrom = Math.min(scanFrom, rank);
    }

    private int takeNode() {
        if (free != NONE) {
            int node = free;
            free = links[node];
            return node;
        }
        if (nodes == positions.length) {
            positions = Arrays.copyOf(positions, nodes * 2);
            links = Arrays.copyOf(links, nodes * 2);
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
        int count = 0;
        int last = NONE;
        for (int node = lists[rank]; node != NONE; node = links[node]) {
            count++;
            last = node;
        }
        int[] taken = new int[count];
        boolean ascending = true;
        for (int node = lists[rank]; node != NONE; node = links[node]) {
            taken[--count] = positions[node];
            ascending &= count + 1 == taken.length || taken[count] <= taken[count + 1];
        }
        if (!ascending) {
            Arrays.sort(taken);
        }
        links[last] = free;
        free = lists[rank];
        lists[rank] = NONE;
        waiting.clear(rank);
        return taken;
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
