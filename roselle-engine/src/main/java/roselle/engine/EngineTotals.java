package roselle.engine;

/**
 * What an engine has done since it was opened; it only grows.
 *
 * @param steps steps of the batch
 * @param stepNanos how long they took together
 * @param rows tokens of all steps, prompts and answers, those computed again after a preemption too
 * @param promptTokens tokens of the prompts of all answers that have started
 * @param cachedTokens those of them whose keys and values came from the prefix cache
 * @param generatedTokens tokens of all answers
 * @param preemptions how often an answer in the making lost its pages to another
 * @param forcedTokens generated tokens that were the only ones that their formats allowed, taken without sampling
 */
public record EngineTotals(
        long steps,
        long stepNanos,
        long rows,
        long promptTokens,
        long cachedTokens,
        long generatedTokens,
        long preemptions,
        long forcedTokens) {}
