package roselle.batch;

import roselle.backend.step.SamplingRows;

/**
 * A logits processor of one sequence that says which tokens may come next, as a grammar does.
 *
 * <p>The engine's thread asks while the device computes the logits, once for each row to be sampled. A sequence that loses its pages
 * and computes them again asks for no position twice, but the rows of drafts may be asked for and then not be used.
 */
public interface TokenConstraint {
    /** What {@link #forcedAfter} says where there is a choice. */
    int NOT_FORCED = -1;

    /** Forbids nothing. */
    TokenConstraint NONE = (ids, length) -> SamplingRows.ALL;

    /**
     * The mask of the token that follows {@code ids[0 .. length)}, prompt and answer.
     *
     * @return as {@link SamplingRows#mask}; it must stay as it is until the tokens of the step have been sampled
     */
    long[] mask(int[] ids, int length);

    /**
     * Takes note that {@code ids[0 .. length)} are the sequence's tokens.
     *
     * @return whether nothing may follow them but the end, so that the sequence ends without a stop token
     */
    default boolean isCompleteAfter(int[] ids, int length) {
        return false;
    }

    /**
     * The only token that may follow {@code ids[0 .. length)}, which {@link #isCompleteAfter} was told of last and which are not
     * complete, or {@link #NOT_FORCED}. It need not be said of every token that is the only one: the mask says the same.
     */
    default int forcedAfter(int[] ids, int length) {
        return NOT_FORCED;
    }

    /** Why it allows nothing any more, or empty where it has not failed. */
    default String failure() {
        return "";
    }
}
