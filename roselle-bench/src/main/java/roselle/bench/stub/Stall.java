package roselle.bench.stub;

/**
 * A time in which the stub sends nothing, as a collection of garbage or a reload would make it; what falls into it comes at
 * its end.
 *
 * @param afterNanos from the first request to its begin
 * @param lengthNanos of it; 0 for no stall
 */
public record Stall(long afterNanos, long lengthNanos) {
    public static final Stall NONE = new Stall(0, 0);

    /** When an event planned at {@code due} happens, both since the first request. */
    public long delayed(long due) {
        return due >= afterNanos && due < afterNanos + lengthNanos ? afterNanos + lengthNanos : due;
    }
}
