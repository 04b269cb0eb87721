package roselle.server.config;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * How long a peer may take, after which its connection is closed.
 *
 * @param idle between two requests, and before the first byte
 * @param head from the first byte of a request until its headers are complete
 * @param body until a request's body has come
 * @param write until a part of an answer is taken
 */
public record TimeLimits(Duration idle, Duration head, Duration body, Duration write) {
    public static final TimeLimits DEFAULT = new TimeLimits(
            Duration.ofMinutes(5), Duration.ofSeconds(20), Duration.ofSeconds(60), Duration.ofSeconds(60));

    public TimeLimits {
        requireSeconds("idle timeout", idle);
        requireSeconds("head timeout", head);
        requireSeconds("body timeout", body);
        requireSeconds("write timeout", write);
    }

    private static void requireSeconds(String field, Duration value) {
        if (value.toSeconds() < 1 || value.toSeconds() > 86_400) {
            throw new InvalidRequestException(
                    field + " is " + value.toSeconds() + " seconds: it must be between 1 and 86400");
        }
    }
}
