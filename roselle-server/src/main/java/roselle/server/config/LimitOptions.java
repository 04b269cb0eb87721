package roselle.server.config;

import roselle.api.InvalidRequestException;

/**
 * What one request and one connection may take; all are finite.
 *
 * @param bodyBytes of a request
 * @param headerBytes of a request, all headers together; the request line may be as long again
 * @param connections open at a time; 0 for {@link #MANY_CONNECTIONS}, or fewer where the system lets the process have fewer
 * @param requests being read and answered at a time; one more is told to come later
 * @param times how long a peer may take
 */
public record LimitOptions(long bodyBytes, long headerBytes, int connections, int requests, TimeLimits times) {
    /** Connections at a time where nobody says how many. */
    public static final int MANY_CONNECTIONS = 20_000;

    public static final LimitOptions DEFAULT = new LimitOptions(32L << 20, 16 << 10, 0, 2048, TimeLimits.DEFAULT);

    public LimitOptions {
        requireBetween("max body", bodyBytes, 1 << 10, 1 << 30);
        requireBetween("max header", headerBytes, 1 << 10, 1 << 20);
        requireBetween("max connections", connections, 0, 1_000_000);
        requireBetween("max requests", requests, 1, 1_000_000);
    }

    public LimitOptions with(TimeLimits value) {
        return new LimitOptions(bodyBytes, headerBytes, connections, requests, value);
    }

    private static void requireBetween(String field, long value, long least, long most) {
        if (value < least || value > most) {
            throw new InvalidRequestException(
                    field + " is " + value + ": it must be between " + least + " and " + most);
        }
    }
}
