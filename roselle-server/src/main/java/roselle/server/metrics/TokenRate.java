package roselle.server.metrics;

/** Tokens a second between two looks at a count, at least a second apart; thread-safe. */
final class TokenRate {
    private static final long LEAST_NANOS = 1_000_000_000L;

    private long sinceNanos;
    private long sinceTokens;
    private double rate;

    /** From now on, where the count is 0. */
    TokenRate(long nowNanos) {
        sinceNanos = nowNanos;
    }

    /** The rate up to now, when there are so many tokens; that of before where it is too early to tell. */
    synchronized double at(long nowNanos, long tokens) {
        if (nowNanos - sinceNanos >= LEAST_NANOS) {
            rate = (tokens - sinceTokens) * 1e9 / (nowNanos - sinceNanos);
            sinceNanos = nowNanos;
            sinceTokens = tokens;
        }
        return rate;
    }
}
