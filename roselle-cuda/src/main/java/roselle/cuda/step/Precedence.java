package roselle.cuda.step;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who goes first of the models that this process has on a GPU. Kernels of models that write go before those of encoders, which are then
 * still in the way: those under way keep their multiprocessors, and all share memory. So an encoder rests between its steps while a
 * model writes.
 */
public final class Precedence {
    /** One that takes its place so often is at work: a long prompt's step takes a quarter of a second. */
    private static final long RECENT_NANOS = 250_000_000;
    /**
     * What a rest is of the step before it. Steps of bge-base's shape without rests cost a model that writes 8 to 14 % of its time per
     * token (H200), a third of them below 5 %.
     */
    private static final int REST_OF_STEP = 2;

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

    /** How long one that gives way rests after a step of so many nanoseconds; 0 where nobody went first of late. */
    public long restNanos(long stepNanos, long now) {
        long since = taken;
        return since != Long.MIN_VALUE && now - since <= RECENT_NANOS ? REST_OF_STEP * stepNanos : 0;
    }
}
