package roselle.offline;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Places for the rows that one engine works on, which all callers of a process share, in turns. Thread-safe.
 *
 * <p>Each row that has a place runs on a virtual thread of its own, so that it can be broken off without another.
 */
public final class RowPool {
    private final Deque<Lane> waiting = new ArrayDeque<>(); // lanes with rows, the one whose turn it is first
    private int free;

    /** The rows of one caller that wait for a place. */
    static final class Lane {
        private final Deque<Runnable> rows = new ArrayDeque<>();
    }

    /**
     * A pool of so many places. Twice the sequences that the engine runs at a time keep it busy; more than it runs and lets wait are
     * refused by it.
     */
    public RowPool(int places) {
        if (places < 1) {
            throw new IllegalArgumentException("places is " + places + ": it must be at least 1");
        }
        free = places;
    }

    /** Runs a row when it is its lane's turn, behind the lane's other rows or before them; a row must not throw. */
    synchronized void run(Lane lane, Runnable row, boolean isNext) {
        if (lane.rows.isEmpty()) {
            waiting.addLast(lane);
        }
        if (isNext) {
            lane.rows.addFirst(row);
        } else {
            lane.rows.addLast(row);
        }
        begin();
    }

    /** Forgets the rows of a lane that have no place yet. */
    synchronized void clear(Lane lane) {
        lane.rows.clear();
        waiting.remove(lane);
    }

    private void begin() {
        while (free > 0 && !waiting.isEmpty()) {
            Lane lane = waiting.removeFirst();
            Runnable row = lane.rows.removeFirst();
            if (!lane.rows.isEmpty()) {
                waiting.addLast(lane);
            }
            free--;
            Thread.ofVirtual().name("roselle-row").start(() -> {
                try {
                    row.run();
                } finally {
                    end();
                }
            });
        }
    }

    private synchronized void end() {
        free++;
        begin();
    }
}
