package roselle.server.pool;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Which models go when another needs memory: those that are worth the least for the room they take.
 *
 * <p>A model's worth is the time that it saves: how often it was asked for lately, times how long it takes to load. Divided by its
 * bytes this is the value by which GreedyDual-Size-Frequency orders the documents of a cache (Cherkasova, 1998); uses that fade with
 * time stand in the place of that paper's inflation.
 */
final class Eviction {
    /** After so long a use counts half. */
    static final long HALF_LIFE_NANOS = 600_000_000_000L;

    private Eviction() {}

    /**
     * A model that may go.
     *
     * @param uses requests for it, of which older ones count less
     * @param loadNanos how long it took to load
     */
    record Candidate(String name, long bytes, double uses, long loadNanos) {
        double worthOfByte() {
            return uses * Math.max(1, loadNanos) / Math.max(1, bytes);
        }
    }

    /** What a count of uses is worth after a while. */
    static double faded(double uses, long nanos) {
        return uses * Math.exp(-Math.log(2) * Math.max(0, nanos) / HALF_LIFE_NANOS);
    }

    /** The names of those that go, so that at least so many bytes become free; nothing where all together are not enough. */
    static Optional<List<String>> choose(List<Candidate> candidates, long neededBytes) {
        var cheapest = new ArrayList<>(candidates);
        cheapest.sort(Comparator.comparingDouble(Candidate::worthOfByte).thenComparing(Candidate::name));
        var chosen = new ArrayList<Candidate>();
        long free = 0;
        for (Candidate candidate : cheapest) {
            if (free >= neededBytes) {
                break;
            }
            chosen.add(candidate);
            free += candidate.bytes();
        }
        if (free < neededBytes) {
            return Optional.empty();
        }
        for (Candidate spared : List.copyOf(chosen).reversed()) { // the most valuable first: a later one may be enough
            if (free - spared.bytes() >= neededBytes) {
                chosen.remove(spared);
                free -= spared.bytes();
            }
        }
        return Optional.of(chosen.stream().map(Candidate::name).toList());
    }
}
