package roselle.model;

import roselle.backend.operation.DistanceBias;
import roselle.model.weights.Store;

/**
 * Distances in kinds: half of them for keys behind their query; of each half the first half are single distances, and the others grow
 * with the logarithm up to {@link #FARTHEST} (Raffel et al., 2020, section 2.1), in float32 as the reference computes them.
 */
final class DistanceBuckets {
    /** From this distance on all are alike. */
    static final int FARTHEST = 128;

    private DistanceBuckets() {}

    /** The numbers of each distance, from those of each kind {@code [buckets, heads]}. */
    static DistanceBias bias(float[] kinds, int buckets, int heads, Store store) {
        int row = 2 * FARTHEST + 1;
        var table = new float[heads * row];
        for (int distance = -FARTHEST; distance <= FARTHEST; distance++) {
            int bucket = bucket(distance, buckets);
            for (int head = 0; head < heads; head++) {
                table[head * row + FARTHEST + distance] = kinds[bucket * heads + head];
            }
        }
        return new DistanceBias(store.constants(table), FARTHEST);
    }

    /** The kind of the distance from a query to a key, which is more than 0 where the key is behind. */
    static int bucket(int distance, int buckets) {
        int half = buckets / 2;
        int first = distance > 0 ? half : 0;
        int size = Math.abs(distance);
        int exact = half / 2;
        if (size < exact) {
            return first + size;
        }
        float growth = (float) Math.log((float) size / exact) / (float) Math.log((double) FARTHEST / exact);
        return first + Math.min(half - 1, exact + (int) (growth * (half - exact)));
    }
}
