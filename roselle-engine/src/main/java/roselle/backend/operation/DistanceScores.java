package roselle.backend.operation;

import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;

/**
 * What queries and keys add to a score by how far they are from each other (He et al., 2021): {@code ofQueries[query][head][kind] +
 * ofKeys[key][head][kind]} with the kind of their distance, before the scale. All rows of a sequence are in the step.
 *
 * @param ofQueries {@code [queryHeads, kinds]} of each row
 * @param ofKeys the same; there are as many heads of keys
 * @param kinds F32 {@code [2 * span + 1]}: whole numbers, the kind of each distance from {@code -span}, where the key is before its
 *     query, to {@code span}; what is farther counts as that
 */
public record DistanceScores(Rows ofQueries, Rows ofKeys, Buffer kinds, int span) {
    public DistanceScores {
        if (span < 0 || ofQueries.columns() != ofKeys.columns()) {
            throw new IllegalArgumentException("a span of " + span + ", " + ofQueries.columns()
                    + " numbers of a query and " + ofKeys.columns() + " of a key");
        }
    }

    /** Where in the table the kind is of a key at one position and a query at another. */
    public int index(int key, int query) {
        return span + Math.clamp((long) key - query, -span, span);
    }
}
