package roselle.server.web;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** The latest durations of one kind, whose percentiles the dashboard shows; thread-safe and without locks. */
final class Samples {
    private final AtomicLongArray nanos;
    private final AtomicLong count = new AtomicLong();

    Samples(int kept) {
        nanos = new AtomicLongArray(kept);
    }

    void add(long duration) {
        nanos.setRelease((int) (count.getAndIncrement() % nanos.length()), duration);
    }

    /** What is kept at this moment, in ascending order. */
    long[] sorted() {
        var kept = new long[(int) Math.min(count.get(), nanos.length())];
        for (int index = 0; index < kept.length; index++) {
            kept[index] = nanos.getAcquire(index);
        }
        Arrays.sort(kept);
        return kept;
    }

    /** The value that a share of the sorted values does not exceed (nearest rank); 0 without any. */
    static long percentile(long[] sorted, double share) {
        if (sorted.length == 0) {
            return 0;
        }
        int rank = (int) Math.ceil(share * sorted.length);
        return sorted[Math.clamp(rank - 1, 0, sorted.length - 1)];
    }
}
