package roselle.scheduler;

import java.util.ArrayList;
import java.util.List;
import roselle.batch.Running;

/**
 * The sequences that hold pages, by rank: the first is preempted last.
 *
 * <p>Keys rank by arrival, whatever priorities they ask for: each sequence brings the place of its arrival, and the places of a key
 * belong to its sequences in the order of their priority. So a priority moves a key's own sequences alone.
 */
final class RunningSet {
    private final ServiceCounters counters;
    private final List<Running> byArrival = new ArrayList<>(); // whose places these are
    private final List<Running> byRank = new ArrayList<>(); // who stands there: at each place one of the same key

    RunningSet(ServiceCounters counters) {
        this.counters = counters;
    }

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
        int place = byArrival.size();
        while (place > 0
                && running.sequence().arrivedBefore(byArrival.get(place - 1).sequence())) {
            place--;
        }
        byArrival.add(place, running);
        byRank.add(place, running);
        counters.of(key(running)).running++;
        settle(place);
    }

    void remove(Running running) {
        int place = byArrival.indexOf(running);
        int at = byRank.indexOf(running);
        if (place < 0) {
            throw new IllegalStateException("sequence " + running.sequence().id() + " is not running here");
        }
        int step = Integer.signum(place - at);
        for (int next = at; next != place; ) { // its key's others move up or down, until the place is free
            next += step;
            if (key(byRank.get(next)).equals(key(running))) {
                byRank.set(at, byRank.get(next));
                at = next;
            }
        }
        byArrival.remove(place);
        byRank.remove(place);
        counters.of(key(running)).running--;
    }

    /** Moves the one at a place, which alone may stand wrong, among those of its key. */
    private void settle(int place) {
        Running moved = byRank.get(place);
        int at = place;
        for (int other = place - 1; other >= 0; other--) {
            Running each = byRank.get(other);
            if (key(each).equals(key(moved)) && moved.sequence().ranksAbove(each.sequence())) {
                byRank.set(at, each);
                byRank.set(other, moved);
                at = other;
            }
        }
        for (int other = place + 1; other < byRank.size() && at >= place; other++) {
            Running each = byRank.get(other);
            if (key(each).equals(key(moved)) && each.sequence().ranksAbove(moved.sequence())) {
                byRank.set(at, each);
                byRank.set(other, moved);
                at = other;
            }
        }
    }

    static String key(Running running) {
        return running.sequence().scheduling().key();
    }
}
