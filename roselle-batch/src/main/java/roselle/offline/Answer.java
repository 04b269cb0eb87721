package roselle.offline;

import java.util.List;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.api.Usage;

/** What became of a row: a text, or why there is none. */
public sealed interface Answer {
    /**
     * A text.
     *
     * @param text the answer, without thoughts
     * @param reasoning the thoughts before it, empty for none
     * @param tokens ids of all that the model wrote
     */
    record Generated(String text, String reasoning, List<Integer> tokens, FinishReason reason, Usage usage)
            implements Answer {
        public Generated {
            tokens = List.copyOf(tokens);
        }
    }

    /** None. */
    record Failed(FailureKind kind, String message) implements Answer {}
}
