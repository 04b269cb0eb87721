package roselle.scheduler;

/**
 * The sizes that a scheduler keeps within.
 *
 * @param stepTokens rows of a step at most, the token budget
 * @param chunkTokens rows of one sequence in a step at most, so that a long prompt leaves room for others
 * @param maxSequences sequences that run at a time
 * @param stepOutputs rows of a step whose logits are wanted at most
 * @param queueLength requests that wait at a time
 * @param maxContext tokens of the longest sequence that the model can take
 */
public record SchedulerLimits(
        int stepTokens, int chunkTokens, int maxSequences, int stepOutputs, int queueLength, int maxContext) {
    public SchedulerLimits {
        if (chunkTokens < 1 || maxSequences < 1 || queueLength < 1 || maxContext < 2) {
            throw new IllegalArgumentException("chunk " + chunkTokens + ", sequences " + maxSequences + ", queue "
                    + queueLength + ", context " + maxContext + ": each needs at least 1, the context 2");
        }
        if (stepTokens < maxSequences || stepOutputs < maxSequences) {
            throw new IllegalArgumentException("a step of " + stepTokens + " tokens and " + stepOutputs
                    + " outputs cannot advance " + maxSequences + " sequences: make it larger or run fewer");
        }
    }
}
