package roselle.server.access;

/**
 * How much of something a key may still take. It fills evenly with time, up to a minute's worth, and what is only known
 * afterwards may take it below zero. One thread at a time.
 */
final class Allowance {
    private static final double MINUTE_NANOS = 60e9;

    private final long perMinute;
    private double left;
    private long filledAt;

    Allowance(long perMinute, long now) {
        this.perMinute = perMinute;
        left = perMinute;
        filledAt = now;
    }

    long perMinute() {
        return perMinute;
    }

    /** What is left, never less than 0. */
    long left(long now) {
        fill(now);
        return (long) Math.max(0, left);
    }

    void take(long amount, long now) {
        fill(now);
        left -= amount;
    }

    /** How long until there is as much as this; 0 where there is. */
    long nanosUntil(long amount, long now) {
        fill(now);
        return left >= amount ? 0 : (long) Math.ceil((amount - left) * MINUTE_NANOS / perMinute);
    }

    private void fill(long now) {
        left = Math.min((double) perMinute, left + (now - filledAt) * (perMinute / MINUTE_NANOS));
        filledAt = now;
    }
}
