package roselle.scheduler;

import java.util.ArrayList;
import java.util.List;
import roselle.batch.Running;

/** The sequences that hold pages, by rank: the first is preempted last. */
final class RunningSet {
    private final List<Running> byRank = new ArrayList<>();

    int size() {
        return byRank.size();
    }

    boolean isEmpty() {
        return byRank.isEmpty();
    }

    Running at(int rank) {
        return byRank.get(rank);
    }

    Running last() {
        return byRank.getLast();
    }

    void add(Running running) {
        int at = byRank.size();
        while (at > 0 && running.sequence().ranksAbove(byRank.get(at - 1).sequence())) {
            at--;
        }
        byRank.add(at, running);
    }

    void remove(Running running) {
        if (!byRank.remove(running)) {
            throw new IllegalStateException("sequence " + running.sequence().id() + " is not running here");
        }
    }
}
