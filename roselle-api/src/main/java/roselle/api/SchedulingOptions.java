package roselle.api;

import java.time.Duration;
import roselle.api.InvalidRequestException.Reason;

/**
 * A request's place among others.
 *
 * @param priority among the requests of the same key the higher goes first; {@link #BACKGROUND} to 1000
 * @param key whose request it is: keys get equal shares of the engine, and share no cached prefixes unless the engine was told so
 * @param cacheSalt only requests with the same salt share cached prefixes
 * @param deadline fail the request when it has not finished this long after it was submitted, a year at most; zero for none
 * @param firstTokenWithin how soon its first token is wanted, an hour at most: among waiting requests of the same key and priority
 *     the one that is due earliest goes first, and nothing fails; zero for those who have not said, who count as half a minute
 */
public record SchedulingOptions(
        int priority, String key, String cacheSalt, Duration deadline, Duration firstTokenWithin) {
    /** The lowest priority: while its key has others, such a request has only what costs steps of these next to nothing. */
    public static final int BACKGROUND = -1000;

    private static final Duration LONGEST_DEADLINE = Duration.ofDays(365);
    private static final Duration LONGEST_FIRST_TOKEN = Duration.ofHours(1);

    /** Nobody's, without a deadline. */
    public static final SchedulingOptions DEFAULT = new SchedulingOptions(0, "", "", Duration.ZERO, Duration.ZERO);

    public SchedulingOptions {
        Check.between("priority", priority, BACKGROUND, 1000);
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
        if (firstTokenWithin.isNegative() || firstTokenWithin.compareTo(LONGEST_FIRST_TOKEN) > 0) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "first_token_within",
                    "the first token is wanted within " + firstTokenWithin + ": it must be between 0 and "
                            + LONGEST_FIRST_TOKEN);
        }
    }

    /** The same place for a request that has not said how soon it wants its first token. */
    public SchedulingOptions(int priority, String key, String cacheSalt, Duration deadline) {
        this(priority, key, cacheSalt, deadline, Duration.ZERO);
    }

    public SchedulingOptions withPriority(int value) {
        return new SchedulingOptions(value, key, cacheSalt, deadline, firstTokenWithin);
    }

    public SchedulingOptions withKey(String value) {
        return new SchedulingOptions(priority, value, cacheSalt, deadline, firstTokenWithin);
    }

    public SchedulingOptions withCacheSalt(String value) {
        return new SchedulingOptions(priority, key, value, deadline, firstTokenWithin);
    }

    public SchedulingOptions withDeadline(Duration value) {
        return new SchedulingOptions(priority, key, cacheSalt, value, firstTokenWithin);
    }

    public SchedulingOptions withFirstTokenWithin(Duration value) {
        return new SchedulingOptions(priority, key, cacheSalt, deadline, value);
    }
}
