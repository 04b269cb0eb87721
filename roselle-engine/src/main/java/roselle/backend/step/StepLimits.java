package roselle.backend.step;

/**
 * The largest step that buffers are sized for, fixed when an engine opens.
 *
 * @param maxRows tokens in a step
 * @param maxSequences sequences in a step
 * @param maxOutputs rows of a step whose logits are wanted
 * @param maxContext tokens of the longest sequence
 * @param pageTokens tokens that share a page
 */
public record StepLimits(int maxRows, int maxSequences, int maxOutputs, int maxContext, int pageTokens) {
    public StepLimits {
        if (maxRows < 1 || maxSequences < 1 || maxOutputs < 1 || maxContext < 1 || pageTokens < 1) {
            throw new IllegalArgumentException("every limit of a step is at least 1");
        }
    }

    /** Pages of the longest sequence. */
    public int maxPages() {
        return (maxContext + pageTokens - 1) / pageTokens;
    }
}
