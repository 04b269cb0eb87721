package roselle.server.config;

import roselle.api.InvalidRequestException;

/**
 * What one API key may take; all are finite.
 *
 * @param requestsPerMinute requests; as many may come at once after a minute's rest
 * @param tokensPerMinute tokens of prompts and answers together, paid when they have been made
 * @param concurrent requests that are being answered at a time
 */
public record KeyLimits(int requestsPerMinute, long tokensPerMinute, int concurrent) {
    public static final KeyLimits DEFAULT = new KeyLimits(6_000, 6_000_000, 256);

    private static final long MOST = 1_000_000_000_000L;

    public KeyLimits {
        requireBetween("requests a minute", requestsPerMinute, Integer.MAX_VALUE);
        requireBetween("tokens a minute", tokensPerMinute, MOST);
        requireBetween("concurrent requests", concurrent, 1_000_000);
    }

    private static void requireBetween(String field, long value, long most) {
        if (value < 1 || value > most) {
            throw new InvalidRequestException(
                    "a key's " + field + " is " + value + ": it must be between 1 and " + most);
        }
    }
}
