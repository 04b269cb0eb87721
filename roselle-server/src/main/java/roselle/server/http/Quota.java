package roselle.server.http;

import java.time.Duration;

/**
 * What is left of a limit of a key.
 *
 * @param unit what is counted, such as {@code tokens}
 * @param perMinute the limit
 * @param left how much of it is left
 * @param untilFull how long until all of it is there again
 */
public record Quota(String unit, long perMinute, long left, Duration untilFull) {}
