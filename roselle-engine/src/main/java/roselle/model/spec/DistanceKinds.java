package roselle.model.spec;

/**
 * Distances in kinds, each of which has a vector that queries and keys meet (He et al., 2021): half of a span are single distances, and
 * the others grow with the logarithm, in float32 as the reference computes them.
 *
 * @param span kinds in each direction
 * @param farthest the distance that the last kind begins at; 0 where all kinds are single distances
 * @param normed whether the vectors are normalised
 */
public record DistanceKinds(int span, int farthest, boolean normed) {
    public DistanceKinds {
        if (span < 2 || (farthest != 0 && farthest - 1 <= span / 2)) {
            throw new IllegalArgumentException("a span of " + span + " kinds of distances up to " + farthest);
        }
    }

    /** Kinds in both directions. */
    public int count() {
        return 2 * span;
    }

    /** The kind of the distance from a query to a key, which is more than 0 where the key is behind. */
    public int kind(int distance) {
        return Math.clamp((long) span - grown(distance), 0, 2 * span - 1);
    }

    private int grown(int distance) {
        int middle = span / 2;
        int size = Math.abs(distance);
        if (farthest == 0 || size <= middle) {
            return distance;
        }
        float growth = (float) Math.log((float) size / middle)
                / (float) Math.log((float) ((farthest - 1) / (double) middle))
                * (middle - 1);
        return Integer.signum(distance) * ((int) Math.ceil(growth) + middle);
    }
}
