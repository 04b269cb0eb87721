package roselle.cuda.adapter;

import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Weight;

/**
 * The weights that adapters add to, each with a number, and the most that an adapter adds to it: what launches depend on.
 *
 * <p>Who loads an adapter notes its weights, on any thread; steps read what is known when they begin. Nothing is forgotten.
 */
final class AdaptedWeights {
    private volatile Known known = new Known(1, 0, new IdentityHashMap<>());

    /**
     * What is known at a time.
     *
     * @param version another one for each that differs
     * @param ranks of the weight with the most of them
     */
    record Known(int version, int ranks, IdentityHashMap<Weight, Place> places) {
        @Nullable
        Place place(Weight weight) {
            return places.get(weight);
        }
    }

    /** A weight's number, and of each adapter's parts of it together at most so many ranks and tiles of outputs. */
    record Place(int index, int ranks, int tiles) {}

    Known known() {
        return known;
    }

    /** Takes note of what an adapter adds to a weight; returns the weight's number. */
    synchronized int note(Weight weight, int ranks, int tiles) {
        Place before = known.place(weight);
        int index = before == null ? known.places.size() : before.index;
        if (before == null || before.ranks < ranks || before.tiles < tiles) {
            var places = new IdentityHashMap<>(known.places);
            places.put(
                    weight,
                    before == null
                            ? new Place(index, ranks, tiles)
                            : new Place(index, Math.max(ranks, before.ranks), Math.max(tiles, before.tiles)));
            known = new Known(known.version + 1, Math.max(ranks, known.ranks), places);
        }
        return index;
    }
}
