package roselle.api;

import java.time.Duration;
import roselle.api.InvalidRequestException.Reason;

/**
 * A request's place among others.
 *
 * @param priority among the requests of the same key the higher goes first; −1000 to 1000
 * @param key whose request it is: keys get equal shares of the engine, and share no cached prefixes unless the engine was told so
 * @param cacheSalt only requests with the same salt share cached prefixes
 * @param deadline fail the request when it has not finished this long after it was submitted, a year at most; zero for none
 */
public record SchedulingOptions(int priority, String key, String cacheSalt, Duration deadline) {
    private static final Duration LONGEST_DEADLINE = Duration.ofDays(365);

    /** Nobody's, without a deadline. */
    public static final SchedulingOptions DEFAULT = new SchedulingOptions(0, "", "", Duration.ZERO);

    public SchedulingOptions {
        Check.between("priority", priority, -1000, 1000);
        Check.atMost("cache_salt", "the length of cache_salt", cacheSalt.codePointCount(0, cacheSalt.length()), 1024);
        Check.atMost("key", "the length of the key", key.length(), 1024);
        if (deadline.isNegative()) {
            throw new InvalidRequestException(Reason.OUT_OF_RANGE, "deadline", "the deadline is negative: " + deadline);
        }
        if (deadline.compareTo(LONGEST_DEADLINE) > 0) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "deadline",
                    "the deadline is " + deadline + ": it must be at most " + LONGEST_DEADLINE.toDays() + " days");
        }
    }
}
