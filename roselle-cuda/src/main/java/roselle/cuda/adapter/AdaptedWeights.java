package roselle.cuda.adapter;

import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Weight;
import roselle.cuda.kernel.Launcher;

/**
 * The weights that adapters add to, each with a number, and the most that an adapter adds to it: what launches depend on.
 *
 * <p>Who loads an adapter notes its weights, on any thread; steps read what is known when they begin. Nothing is forgotten.
 */
final class AdaptedWeights {
    private static final int SLICE = 1024; // columns

    private volatile Known known = new Known(1, 0, new IdentityHashMap<>());

    /**
     * What is known at a time.
     *
     * @param version another one for each that differs
     * @param shrunk numbers that a row has after it was shrunk for the weight with the most of them
     */
    record Known(int version, int shrunk, IdentityHashMap<Weight, Place> places) {
        @Nullable
        Place place(Weight weight) {
            return places.get(weight);
        }
    }

    /**
     * A weight's number, and of each adapter's parts of it together at most so many ranks and tiles of outputs.
     *
     * @param slices of its columns, whose sums are apart
     * @param areEights whether all parts begin and end at multiples of eight outputs
     * @param areTiles whether kernels of products can add them
     */
    record Place(int index, int ranks, int tiles, int slices, boolean areEights, boolean areTiles) {
        Place with(Needs more) {
            return new Place(
                    index,
                    Math.max(ranks, more.ranks),
                    Math.max(tiles, more.tiles),
                    slices,
                    areEights && more.areEights,
                    areTiles && more.areTiles);
        }

        int shrunk() {
            return ranks * slices;
        }
    }

    /** The same of one adapter. */
    record Needs(int ranks, int tiles, boolean areEights, boolean areTiles) {}

    Known known() {
        return known;
    }

    /** Takes note of what an adapter adds to a weight; returns the weight's number. */
    synchronized int note(Weight weight, Needs needs) {
        Place before = known.place(weight);
        int slices = Launcher.cover(weight.columns(), SLICE);
        Place place = before == null
                ? new Place(known.places.size(), needs.ranks, needs.tiles, slices, needs.areEights, needs.areTiles)
                : before.with(needs);
        if (!place.equals(before)) {
            var places = new IdentityHashMap<>(known.places);
            places.put(weight, place);
            known = new Known(known.version + 1, Math.max(place.shrunk(), known.shrunk), places);
        }
        return place.index;
    }
}
