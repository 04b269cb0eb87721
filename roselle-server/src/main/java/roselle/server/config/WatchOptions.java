package roselle.server.config;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * When an engine counts as stuck.
 *
 * @param stepPatience how long one step may take; the longest prompt chunk on the slowest machine should be shorter
 */
public record WatchOptions(Duration stepPatience) {
    public static final WatchOptions DEFAULT = new WatchOptions(Duration.ofSeconds(60));

    public WatchOptions {
        if (stepPatience.compareTo(Duration.ofMillis(1)) < 0 || stepPatience.compareTo(Duration.ofDays(1)) >= 0) {
            throw new InvalidRequestException(
                    "the patience with a step is " + stepPatience + ": it must be between a millisecond and a day");
        }
    }
}
