package roselle.embedding;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;

/**
 * What a caller may ask of its texts beside their vectors.
 *
 * @param prompt the name of one of the model's prompts, which goes before each text; null for the model's default
 * @param dimensions numbers that stay of each vector, which is then normalised anew where the model normalises; 0 for all. Only models
 *     made for it (Matryoshka) stay good
 * @param truncate whether the end of a text that is too long is left out; else it is refused
 * @param deadline fail when the vectors are not there this long after they were asked for; zero for none
 * @param task what the vectors are for, a name of the model's tasks, whose instruction goes before each text unless a prompt is named;
 *     null for none
 * @param instruction what a ranking is for, said to decoders that rank; null for the model's own
 * @param sparse whether sparse vectors are wanted: pairs of a token's id and its weight, behind each other ({@link SparseVector#of})
 */
public record EmbeddingOptions(
        @Nullable String prompt,
        int dimensions,
        boolean truncate,
        Duration deadline,
        @Nullable String instruction,
        @Nullable String task,
        boolean sparse) {
    private static final Duration LONGEST_DEADLINE = Duration.ofDays(365);

    public static final EmbeddingOptions DEFAULT =
            new EmbeddingOptions(null, 0, false, Duration.ZERO, null, null, false);

    public EmbeddingOptions {
        if (dimensions < 0) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE, "dimensions", "dimensions is " + dimensions + ": it must be at least 1");
        }
        if (deadline.isNegative() || deadline.compareTo(LONGEST_DEADLINE) > 0) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "deadline",
                    "the deadline is " + deadline + ": it must be between 0 and " + LONGEST_DEADLINE);
        }
    }

    /** Without an instruction. */
    public EmbeddingOptions(@Nullable String prompt, int dimensions, boolean truncate, Duration deadline) {
        this(prompt, dimensions, truncate, deadline, null);
    }

    /** Without a task. */
    public EmbeddingOptions(
            @Nullable String prompt,
            int dimensions,
            boolean truncate,
            Duration deadline,
            @Nullable String instruction) {
        this(prompt, dimensions, truncate, deadline, instruction, null, false);
    }

    public EmbeddingOptions withPrompt(String name) {
        return new EmbeddingOptions(name, dimensions, truncate, deadline, instruction, task, sparse);
    }

    public EmbeddingOptions withDimensions(int value) {
        return new EmbeddingOptions(prompt, value, truncate, deadline, instruction, task, sparse);
    }

    public EmbeddingOptions withTruncate(boolean value) {
        return new EmbeddingOptions(prompt, dimensions, value, deadline, instruction, task, sparse);
    }

    public EmbeddingOptions withInstruction(@Nullable String text) {
        return new EmbeddingOptions(prompt, dimensions, truncate, deadline, text, task, sparse);
    }

    public EmbeddingOptions withTask(@Nullable String name) {
        return new EmbeddingOptions(prompt, dimensions, truncate, deadline, instruction, name, sparse);
    }

    public EmbeddingOptions withSparse(boolean value) {
        return new EmbeddingOptions(prompt, dimensions, truncate, deadline, instruction, task, value);
    }
}
