package roselle.bench.load;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * Limits of a generator.
 *
 * @param timeout from a request's intended start until it counts as failed
 * @param maxConnections open at a time; a request beyond them fails, since waiting would distort the load
 */
public record LoadOptions(Duration timeout, int maxConnections) {
    public static final LoadOptions DEFAULT = new LoadOptions(Duration.ofMinutes(10), 16_384);

    public LoadOptions {
        if (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofDays(1)) > 0 || maxConnections < 1) {
            throw new InvalidRequestException("a request's timeout is " + timeout.toMillis() + " ms and there are "
                    + maxConnections + " connections: it must be 1 ms to a day, and at least one");
        }
    }
}
