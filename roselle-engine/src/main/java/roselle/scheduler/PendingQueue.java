package roselle.scheduler;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import roselle.batch.Pending;
import roselle.batch.Preempted;
import roselle.batch.Sequence;
import roselle.batch.Waiting;

/**
 * Sequences that want to run, in the order of their turn: first the keys that have nothing running, then the key served least,
 * then the earliest arrival. Of a key the highest priority goes first; within it those that were preempted, then the one whose first token is due earliest.
 */
final class PendingQueue {
    /** A key's sequences of one priority. */
    private static final class Level {
        final int priority;
        final List<Preempted> preempted = new ArrayList<>(); // by arrival
        final PriorityQueue<Waiting> waiting = new PriorityQueue<>(
                (one, other) -> one == other ? 0 : one.sequence().isDueBefore(other.sequence()) ? -1 : 1);

        Level(int priority) {
            this.priority = priority;
        }

        boolean isEmpty() {
            return preempted.isEmpty() && waiting.isEmpty();
        }

        Pending head() {
            return preempted.isEmpty() ? waiting.element() : preempted.getFirst();
        }
    }

    /** A key's sequences: levels by priority, the highest first, none of them empty. */
    private static final class Line {
        final List<Level> levels = new ArrayList<>();

        Pending head() {
            return levels.getFirst().head();
        }

        Level level(int priority) {
            int at = 0;
            while (at < levels.size() && levels.get(at).priority > priority) {
                at++;
            }
            if (at == levels.size() || levels.get(at).priority != priority) {
                levels.add(at, new Level(priority));
            }
            return levels.get(at);
        }
    }

    private final Map<String, Line> lines = new LinkedHashMap<>(); // by key
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
        level(waiting.sequence()).waiting.add(waiting);
        size++;
        waitingCount++;
    }

    void add(Preempted preempted) {
        List<Preempted> all = level(preempted.sequence()).preempted;
        int at = 0;
        while (at < all.size() && all.get(at).sequence().arrivedBefore(preempted.sequence())) {
            at++;
        }
        all.add(at, preempted);
        size++;
    }

    private Level level(Sequence sequence) {
        String key = sequence.scheduling().key();
        Line line = lines.get(key);
        if (line == null) {
            line = new Line();
            lines.put(key, line);
        }
        return line.level(sequence.scheduling().priority());
    }

    /** Whose turn it is, or null when nobody waits. */
    @Nullable
    Pending peek() {
        if (size == 0) {
            return null; // most steps ask: they allocate no iterator
        }
        Pending best = null;
        for (Line line : lines.values()) {
            Pending head = line.head();
            if (best == null || goesBefore(head.sequence(), best.sequence())) {
                best = head;
            }
        }
        return best;
    }

    /**
     * Whose turn it would be among the keys that have nothing running and whose next one is {@code suitable}, without that of {@code
     * blocked}, which is not left behind by more than a key may owe.
     */
    @Nullable
    Pending peekPast(Pending blocked, Predicate<Sequence> suitable) {
        String key = blocked.sequence().scheduling().key();
        long most = counters.of(key).served + ServiceCounters.MAX_OWED;
        Pending best = null;
        for (var entry : lines.entrySet()) {
            var account = counters.of(entry.getKey());
            Pending head = entry.getValue().head();
            if (!entry.getKey().equals(key)
                    && account.running == 0
                    && account.served <= most
                    && suitable.test(head.sequence())
                    && (best == null || goesBefore(head.sequence(), best.sequence()))) {
                best = head;
            }
        }
        return best;
    }

    private boolean goesBefore(Sequence one, Sequence other) {
        var first = counters.of(one.scheduling().key());
        var second = counters.of(other.scheduling().key());
        if ((first.running == 0) != (second.running == 0)) {
            return first.running == 0;
        }
        return first.served < second.served || (first.served == second.served && one.arrivedBefore(other));
    }

    /** Takes a sequence out, wherever it stands. */
    void remove(Pending pending) {
        Sequence sequence = pending.sequence();
        Level level = level(sequence);
        boolean found = switch (pending) {
            case Preempted preempted -> level.preempted.remove(preempted);
            case Waiting waiting -> level.waiting.remove(waiting);
        };
        if (!found) {
            throw new IllegalStateException("sequence " + sequence.id() + " is not in the queue");
        }
        size--;
        waitingCount -= pending instanceof Waiting ? 1 : 0;
        if (level.isEmpty()) {
            forget(sequence.scheduling().key(), level);
        }
    }

    private void forget(String key, Level level) {
        Line line = lines.get(key);
        if (line != null) {
            line.levels.remove(level);
            if (line.levels.isEmpty()) {
                lines.remove(key);
            }
        }
    }

    void forEach(Consumer<Pending> action) {
        if (size == 0) {
            return;
        }
        for (Line line : lines.values()) {
            for (Level level : line.levels) {
                level.preempted.forEach(action);
                level.waiting.forEach(action);
            }
        }
    }
}
