package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * What is added to a score for how far a key is from its query (Raffel et al., 2020).
 *
 * @param table F32 {@code [queryHeads, 2 * span + 1]}: of each head a number for each distance from {@code -span}, where the key is
 *     before its query, to {@code span}; what is farther counts as that
 */
public record DistanceBias(Buffer table, int span) {
    public DistanceBias {
        if (span < 0) {
            throw new IllegalArgumentException("a span of " + span);
        }
    }

    /** Where in the table the number of a head is, for a key at one position and a query at another. */
    public int index(int head, int key, int query) {
        return head * (2 * span + 1) + span + Math.clamp((long) key - query, -span, span);
    }
}
