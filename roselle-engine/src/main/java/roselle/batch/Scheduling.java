package roselle.batch;

import roselle.kvcache.PrefixScope;

/**
 * A sequence's place among others.
 *
 * @param scope with whom it shares prefixes
 * @param priority among the sequences of the same key the higher goes first
 * @param key whose it is: keys get equal shares
 * @param arrivalNanos when it was submitted; of two sequences the earlier ranks higher
 * @param deadlineNanos when it fails unless finished, or {@link #NO_DEADLINE}
 */
public record Scheduling(PrefixScope scope, int priority, String key, long arrivalNanos, long deadlineNanos) {
    public static final long NO_DEADLINE = Long.MAX_VALUE;
}
