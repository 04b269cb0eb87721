package roselle.api;

/**
 * What a request took.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens those of them whose keys and values came from the prefix cache
 * @param completionTokens tokens generated, all choices together
 * @param reasoningTokens those of them that thoughts consist of, the marks at their ends included
 * @param queueNanos from submission until the first step that worked on it
 * @param firstTokenNanos from submission until the first token; 0 where there was none
 * @param totalNanos from submission until the end
 */
public record Usage(
        int promptTokens,
        int cachedTokens,
        int completionTokens,
        int reasoningTokens,
        long queueNanos,
        long firstTokenNanos,
        long totalNanos) {}
