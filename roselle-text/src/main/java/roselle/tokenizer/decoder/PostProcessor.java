package roselle.tokenizer.decoder;

import java.util.Optional;
import roselle.tokenizer.TokenPair;
import roselle.tokenizer.model.IdBuffer;

/** Puts the tokens that the model expects around a text's ids. Thread-safe. */
@FunctionalInterface
public interface PostProcessor {
    /** Adds nothing. */
    PostProcessor NONE = (ids, output) -> output.addAll(ids, 0, ids.length);

    /** Appends {@code ids} with what belongs around them to {@code output}. */
    void process(int[] ids, IdBuffer output);

    /** Two texts as one input; empty where a file says nothing of pairs. */
    default Optional<TokenPair> pair(int[] first, int[] second) {
        return Optional.empty();
    }

    /** How many ids come of {@code ids}, for what a file describes; {@link Integer#MAX_VALUE} for that many and more. */
    default int lengthOf(int ids) {
        return ids;
    }
}
