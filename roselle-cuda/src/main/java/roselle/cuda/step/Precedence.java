package roselle.cuda.step;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who goes first of the models that this process has on a GPU. Kernels of models that write go before those of encoders, which keep their
 * multiprocessors once they are begun, for longer the more rows they have. So an encoder rests between its steps while a model writes.
 */
public final class Precedence {
    /** One that takes its place so often is at work: a long prompt's step takes a quarter of a second. */
    private static final long RECENT_NANOS = 250_000_000;

    /** Rows of a step that is rested from for twice as long as it took; more rows, longer. */
    private static final double ROWS_OF_REST = 4096;

    private static final Map<Integer, Precedence> OF_GPUS = new ConcurrentHashMap<>();

    private volatile long taken = Long.MIN_VALUE; // by System.nanoTime; the least before it was ever taken

    /** That of the GPU with a number. */
    public static Precedence of(int index) {
        return OF_GPUS.computeIfAbsent(index, _ -> new Precedence());
    }

    /** Says that a step begins that goes first. */
    public void take(long now) {
        taken = now;
    }

    /** How long one that gives way rests after a step of so many rows and nanoseconds; 0 where nobody went first of late. */
    public long restNanos(int rows, long stepNanos, long now) {
        long since = taken;
        boolean isBeside = since != Long.MIN_VALUE && now - since <= RECENT_NANOS;
        return isBeside ? (long) (stepNanos * (1 + rows / ROWS_OF_REST)) : 0;
    }
}
