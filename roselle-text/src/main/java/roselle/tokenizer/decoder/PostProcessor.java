package roselle.tokenizer.decoder;

import roselle.tokenizer.model.IdBuffer;

/** Puts the tokens that the model expects around a text's ids. Thread-safe. */
@FunctionalInterface
public interface PostProcessor {
    /** Adds nothing. */
    PostProcessor NONE = (ids, output) -> output.addAll(ids, 0, ids.length);

    /** Appends {@code ids} with what belongs around them to {@code output}. */
    void process(int[] ids, IdBuffer output);

    /** How many ids come of {@code ids}, for what a file describes; {@link Integer#MAX_VALUE} for that many and more. */
    default int lengthOf(int ids) {
        return ids;
    }
}
