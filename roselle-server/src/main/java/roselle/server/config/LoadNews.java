package roselle.server.config;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * When a stream that waits for its model says how far that is: from then on its answer is a stream, so a load that fails ends it by an
 * event, no longer by a status.
 *
 * @param after how long it waits without a word
 * @param every how long it waits between two words
 */
public record LoadNews(Duration after, Duration every) {
    /** After 2 seconds, and each second. */
    public static final LoadNews USUAL = new LoadNews(Duration.ofSeconds(2), Duration.ofSeconds(1));

    public LoadNews {
        if (!after.isPositive() || !every.isPositive()) {
            throw new InvalidRequestException(
                    "news of a load come after " + after + " and every " + every + ": both must be more than 0");
        }
    }
}
