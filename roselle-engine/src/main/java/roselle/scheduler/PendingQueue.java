package roselle.scheduler;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.batch.Pending;
import roselle.batch.Preempted;
import roselle.batch.Sequence;
import roselle.batch.Waiting;

/**
 * Sequences that want to run, in the order of their turn: the highest priority first; within it those that were preempted,
 * then the key served least, then the earliest arrival.
 */
final class PendingQueue {
    /** The sequences of one priority. */
    private static final class Level {
        final int priority;
        final List<Preempted> preempted = new ArrayList<>(); // by rank
        final LinkedHashMap<String, ArrayDeque<Waiting>> waiting = new LinkedHashMap<>(); // by key

        Level(int priority) {
            this.priority = priority;
        }

        boolean isEmpty() {
            return preempted.isEmpty() && waiting.isEmpty();
        }
    }

    private final List<Level> levels = new ArrayList<>(); // by priority, the highest first
    private final ServiceCounters counters;
    private int size;
    private int waitingCount;

    PendingQueue(ServiceCounters counters) {
        this.counters = counters;
    }

    int size() {
        return size;
    }

    /** Those that have not run yet. */
    int waitingCount() {
        return waitingCount;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(Waiting waiting) {
        var scheduling = waiting.sequence().scheduling();
        Level level = level(scheduling.priority());
        ArrayDeque<Waiting> ofKey = level.waiting.get(scheduling.key());
        if (ofKey == null) {
            ofKey = new ArrayDeque<>();
            level.waiting.put(scheduling.key(), ofKey);
        }
        ofKey.add(waiting);
        size++;
        waitingCount++;
    }

    void add(Preempted preempted) {
        List<Preempted> all = level(preempted.sequence().scheduling().priority()).preempted;
        int at = 0;
        while (at < all.size() && all.get(at).sequence().ranksAbove(preempted.sequence())) {
            at++;
        }
        all.add(at, preempted);
        size++;
    }

    private Level level(int priority) {
        int at = 0;
        while (at < levels.size() && levels.get(at).priority > priority) {
            at++;
        }
        if (at == levels.size() || levels.get(at).priority != priority) {
            levels.add(at, new Level(priority));
        }
        return levels.get(at);
    }

    /** Whose turn it is, or null when nobody waits. */
    @Nullable
    Pending peek() {
        return levels.isEmpty() ? null : next(levels.getFirst());
    }

    private Pending next(Level level) {
        return level.preempted.isEmpty() ? leastServed(level) : level.preempted.getFirst();
    }

    private Waiting leastServed(Level level) {
        Waiting best = null;
        long bestServed = 0;
        for (var entry : level.waiting.entrySet()) {
            Waiting head = entry.getValue().getFirst();
            long served = counters.of(entry.getKey()).served;
            if (best == null
                    || served < bestServed
                    || (served == bestServed && head.sequence().ranksAbove(best.sequence()))) {
                best = head;
                bestServed = served;
            }
        }
        if (best == null) {
            throw new IllegalStateException("a level of the queue is empty");
        }
        return best;
    }

    /** Takes a sequence out, wherever it stands. */
    void remove(Pending pending) {
        Sequence sequence = pending.sequence();
        Level level = level(sequence.scheduling().priority());
        boolean found = switch (pending) {
            case Preempted preempted -> level.preempted.remove(preempted);
            case Waiting waiting -> removeWaiting(level, waiting);
        };
        if (!found) {
            throw new IllegalStateException("sequence " + sequence.id() + " is not in the queue");
        }
        size--;
        if (level.isEmpty()) {
            levels.remove(level);
        }
    }

    private boolean removeWaiting(Level level, Waiting waiting) {
        String key = waiting.sequence().scheduling().key();
        ArrayDeque<Waiting> ofKey = level.waiting.get(key);
        boolean found = ofKey != null && ofKey.remove(waiting);
        if (ofKey != null && ofKey.isEmpty()) {
            level.waiting.remove(key);
        }
        waitingCount -= found ? 1 : 0;
        return found;
    }

    void forEach(Consumer<Pending> action) {
        for (Level level : levels) {
            level.preempted.forEach(action);
            for (ArrayDeque<Waiting> ofKey : level.waiting.values()) {
                ofKey.forEach(action);
            }
        }
    }
}
