package roselle.api;

import java.util.List;
import java.util.Set;
import roselle.api.InvalidRequestException.Reason;

/**
 * When a generation ends.
 *
 * @param maxTokens at most this many tokens; {@link #REST_OF_CONTEXT} for as many as the context holds
 * @param minTokens no end-of-text and no stop token before this many
 * @param stopStrings text that ends the generation and is not part of the answer
 * @param stopTokenIds token ids that end it, beside the model's own end-of-text tokens
 * @param ignoreEos go on after the model's own end-of-text tokens
 */
public record StopConditions(
        int maxTokens, int minTokens, List<String> stopStrings, Set<Integer> stopTokenIds, boolean ignoreEos) {
    /** Asks for as many tokens as the context holds after the prompt. */
    public static final int REST_OF_CONTEXT = Integer.MAX_VALUE;

    /** Until the model ends its answer or the context is full. */
    public static final StopConditions DEFAULT = new StopConditions(REST_OF_CONTEXT, 0, List.of(), Set.of(), false);

    private static final int MAX_STOP_STRINGS = 64;
    private static final int LONGEST_STOP_STRING = 4096;

    public StopConditions {
        Check.atLeast("max_tokens", maxTokens, 1);
        Check.atLeast("min_tokens", minTokens, 0);
        if (minTokens > maxTokens) {
            throw new InvalidRequestException(
                    Reason.INVALID,
                    "min_tokens",
                    "min_tokens is " + minTokens + ", more than max_tokens, which is " + maxTokens);
        }
        Check.atMost("stop", "the number of stop strings", stopStrings.size(), MAX_STOP_STRINGS);
        Check.atMost("stop_token_ids", "the number of stop_token_ids", stopTokenIds.size(), 4096);
        for (String stop : stopStrings) {
            Check.atLeast("stop", "the length of a stop string", stop.length(), 1);
            Check.atMost(
                    "stop", "the length of a stop string", stop.codePointCount(0, stop.length()), LONGEST_STOP_STRING);
        }
        for (int id : stopTokenIds) {
            Check.atLeast("stop_token_ids", "a token id of stop_token_ids", id, 0);
        }
        stopStrings = List.copyOf(stopStrings);
        stopTokenIds = Set.copyOf(stopTokenIds);
    }
}
