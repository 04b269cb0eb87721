package roselle.bench.trace;

import java.util.Arrays;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/** What the prompts of a run have in common; results name it, since prefix caches live on it. */
public enum PromptMode {
    /** Nothing: each prompt is drawn anew. */
    INDEPENDENT("independent", "each prompt is drawn anew; a prefix cache finds nothing"),
    /** Everything: each prompt is a beginning of one text. Flatters prefix caches. */
    SHARED_BASE(
            "shared-base",
            "each prompt is a beginning of the same text: this flatters engines with a prefix cache, which have seen all"
                    + " of a prompt that is not longer than an earlier one"),
    /** What the trace says: blocks of the same name are the same text. */
    TRACE("trace", "prompts share the blocks that the trace says they share");

    private final String label;
    private final String meaning;

    PromptMode(String label, String meaning) {
        this.label = label;
        this.meaning = meaning;
    }

    public String label() {
        return label;
    }

    /** A sentence for reports. */
    public String meaning() {
        return meaning;
    }

    public static PromptMode of(String label) {
        return Arrays.stream(values())
                .filter(mode -> mode.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("the prompt mode is " + label + ": it must be "
                        + Arrays.stream(values()).map(PromptMode::label).collect(Collectors.joining(", "))));
    }
}
