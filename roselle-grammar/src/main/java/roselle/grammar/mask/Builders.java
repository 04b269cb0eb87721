package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Sets in the making, for one mask at a time. They take some ten times what a constraint takes to be built, so constraints of a vocabulary
 * lend them to each other between their masks. Not thread-safe but for what is lent.
 */
final class Builders {
    /** What is not in use of a vocabulary. Thread-safe. */
    static final class Pool {
        private static final int MAX_KEPT = 64;

        private final int words;
        private final ConcurrentLinkedDeque<SetBuilder> free = new ConcurrentLinkedDeque<>();

        Pool(int words) {
            this.words = words;
        }

        private SetBuilder take() {
            SetBuilder found = free.pollFirst();
            return found == null ? new SetBuilder(words) : found;
        }

        private void giveBack(List<SetBuilder> some) {
            if (free.size() + some.size() <= MAX_KEPT) {
                some.forEach(free::addFirst);
            }
        }
    }

    private final Pool pool;
    private final List<SetBuilder> taken = new ArrayList<>();

    Builders(Pool pool) {
        this.pool = pool;
    }

    /** An empty set, until {@link #release}. */
    SetBuilder take() {
        SetBuilder builder = pool.take();
        taken.add(builder);
        return builder;
    }

    /** Ends the use of all of them. */
    void release() {
        taken.forEach(SetBuilder::clear); // a mask that was given up may have left some
        pool.giveBack(taken);
        taken.clear();
    }
}
