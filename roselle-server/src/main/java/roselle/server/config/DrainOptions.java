package roselle.server.config;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * How a server ends.
 *
 * @param grace what is being answered may take this long to finish
 */
public record DrainOptions(Duration grace) {
    private static final Duration LONGEST = Duration.ofDays(1);

    public static final DrainOptions DEFAULT = new DrainOptions(Duration.ofSeconds(30));

    public DrainOptions {
        if (grace.isNegative() || grace.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("the grace at the end is " + grace.toSeconds()
                    + " seconds: it must be between 0 and " + LONGEST.toSeconds());
        }
    }
}
