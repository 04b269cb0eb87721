package roselle.batch;

import roselle.api.SchedulingOptions;
import roselle.kvcache.PrefixScope;

/**
 * A sequence's place among others.
 *
 * @param scope with whom it shares prefixes
 * @param priority among the sequences of the same key the higher goes first
 * @param key whose it is: keys get equal shares
 * @param arrivalNanos when it was submitted; of two sequences the earlier ranks higher
 * @param deadlineNanos when it fails unless finished, or {@link #NO_DEADLINE}
 * @param dueNanos when its first token is wanted; of two that wait alike the one that is due earlier goes first
 */
public record Scheduling(
        PrefixScope scope, int priority, String key, long arrivalNanos, long deadlineNanos, long dueNanos) {
    public static final long NO_DEADLINE = Long.MAX_VALUE;
    /** How soon who has not said so wants a first token: late enough for the urgent, and so nobody is passed for ever. */
    public static final long USUAL_PATIENCE_NANOS = 30_000_000_000L;

    /** Of a sequence for which nobody has said when its first token is wanted. */
    public Scheduling(PrefixScope scope, int priority, String key, long arrivalNanos, long deadlineNanos) {
        this(scope, priority, key, arrivalNanos, deadlineNanos, arrivalNanos + USUAL_PATIENCE_NANOS);
    }

    /** Whether it gives way in steps to what else its key has here. */
    public boolean isBackground() {
        return priority == SchedulingOptions.BACKGROUND;
    }
}
