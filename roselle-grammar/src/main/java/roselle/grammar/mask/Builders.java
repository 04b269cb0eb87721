package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Sets in the making, for one mask at a time. To make them takes as long as to build a small constraint, so the constraints of a
 * vocabulary lend them to each other between their masks. Not thread-safe.
 */
final class Builders {
    /** What is not in use of a vocabulary. Thread-safe. */
    static final class Pool {
        private static final int MAX_KEPT = 16;

        private final int words;
        private final AtomicReferenceArray<@Nullable Builders> free = new AtomicReferenceArray<>(MAX_KEPT);

        Pool(int words) {
            this.words = words;
        }

        Builders take() {
            for (int i = 0; i < MAX_KEPT; i++) {
                Builders found = free.get(i) == null ? null : free.getAndSet(i, null);
                if (found != null) {
                    return found;
                }
            }
            return new Builders(words);
        }

        void giveBack(Builders builders) {
            builders.clear();
            for (int i = 0; i < MAX_KEPT; i++) {
                if (free.get(i) == null && free.compareAndSet(i, null, builders)) {
                    return;
                }
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
