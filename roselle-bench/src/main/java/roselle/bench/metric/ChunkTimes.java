package roselle.bench.metric;

import java.util.Arrays;

/** When each event with a token was read, in nanoseconds. */
public final class ChunkTimes {
    private final long[] nanos;

    private ChunkTimes(long[] nanos) {
        this.nanos = nanos;
    }

    /** The first {@code count} of these moments. */
    public static ChunkTimes of(long[] nanos, int count) {
        return new ChunkTimes(Arrays.copyOf(nanos, count));
    }

    public static ChunkTimes of(long... nanos) {
        return of(nanos, nanos.length);
    }

    public int count() {
        return nanos.length;
    }

    public long at(int index) {
        return nanos[index];
    }

    /** The gaps between one and the next, in milliseconds. */
    public double[] gapsMillis() {
        var gaps = new double[Math.max(0, nanos.length - 1)];
        Arrays.setAll(gaps, i -> RequestSample.millis(nanos[i + 1] - nanos[i]));
        return gaps;
    }
}
