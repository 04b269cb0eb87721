package roselle.api;

import roselle.api.InvalidRequestException.Reason;

/**
 * What events carry beside tokens and text.
 *
 * @param choices independent answers to the same prompt, 1 to 128
 * @param logprobs report the log-probability of each chosen token, from the raw logits
 * @param topLogprobs report this many likeliest tokens beside it, 0 to 20; needs {@code logprobs}
 * @param promptLogprobs score the prompt's own tokens too; they then do not come from the prefix cache
 */
public record OutputOptions(int choices, boolean logprobs, int topLogprobs, boolean promptLogprobs) {
    /** One answer, without log-probabilities. */
    public static final OutputOptions DEFAULT = new OutputOptions(1, false, 0, false);

    public OutputOptions {
        Check.between("n", choices, 1, 128);
        Check.between("top_logprobs", topLogprobs, 0, 20);
        if (topLogprobs > 0 && !logprobs) {
            throw new InvalidRequestException(
                    Reason.INVALID,
                    "top_logprobs",
                    "top_logprobs is " + topLogprobs + ", but logprobs is not asked for");
        }
    }
}
