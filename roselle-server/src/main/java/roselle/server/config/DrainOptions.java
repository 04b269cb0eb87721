package roselle.server.config;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * How a server ends.
 *
 * @param grace what is being answered may take this long to finish
 */
public record DrainOptions(Duration grace) {
    public static final DrainOptions DEFAULT = new DrainOptions(Duration.ofSeconds(30));

    public DrainOptions {
        if (grace.isNegative()) {
            throw new InvalidRequestException("the grace is negative: " + grace);
        }
    }
}
