package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Sets in the making, for one mask at a time. To make them takes as long as to build a small constraint, so the constraints of a
 * vocabulary lend them to each other between their masks. Not thread-safe.
 */
final class Builders {
    /** What is not in use of a vocabulary. Thread-safe. */
    static final class Pool {
        private static final int MAX_KEPT = 16;

        private final int words;
        private final ConcurrentLinkedDeque<Builders> free = new ConcurrentLinkedDeque<>();

        Pool(int words) {
            this.words = words;
        }

        Builders take() {
            Builders found = free.pollFirst();
            return found == null ? new Builders(words) : found;
        }

        void giveBack(Builders builders) {
            builders.clear();
            if (free.size() < MAX_KEPT) {
                free.addFirst(builders);
            }
        }
    }

    private final int words;
    private final List<SetBuilder> all = new ArrayList<>();
    private int taken;

    private Builders(int words) {
        this.words = words;
    }

    /** An empty set. */
    SetBuilder next() {
        if (taken == all.size()) {
            all.add(new SetBuilder(words));
        }
        return all.get(taken++);
    }

    private void clear() {
        for (int i = 0; i < taken; i++) {
            all.get(i).clear(); // a mask that was given up may have left some
        }
        taken = 0;
    }
}
