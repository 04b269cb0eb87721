package roselle.scheduler;

import org.jspecify.annotations.Nullable;
import roselle.batch.Running;
import roselle.batch.Sequence;

/**
 * Says whose place and whose pages one sequence may have.
 *
 * <p>Of its own key's, those of a lower priority. Of other keys': a place of the key that runs most, where that keeps more than the
 * newcomer's key then has; and pages of a key that claims more than its part, all pages divided by the keys that have requests here,
 * for one that stays within it. Pages change hands for a newcomer only from a key that was served as much or more: two keys that want
 * more than there is take turns by what they were served, instead of undoing each other's steps.
 */
final class Shares {
    private final Admission admission;
    private final ServiceCounters counters;
    private final RunningSet running;

    Shares(Admission admission, ServiceCounters counters, RunningSet running) {
        this.admission = admission;
        this.counters = counters;
        this.running = running;
    }

    /** Who gives a newcomer its place among those that run, or null. */
    @Nullable
    Running whoGivesPlace(Sequence newcomer) {
        Running own = lowerOfItsKey(newcomer);
        if (own != null) {
            return own;
        }
        int most = counters.of(key(newcomer)).running + 1;
        Running victim = null;
        for (int rank = running.size() - 1; rank >= 0; rank--) {
            Running each = running.at(rank);
            int count = counters.of(RunningSet.key(each)).running;
            if (!isOfItsKey(newcomer, each) && count > most) {
                most = count;
                victim = each;
            }
        }
        return victim;
    }

    /** Who gives a newcomer its pages, or null. */
    @Nullable
    Running whoGivesPages(Sequence newcomer) {
        Running own = lowerOfItsKey(newcomer);
        if (own != null) {
            return own;
        }
        long most = 0;
        Running victim = null;
        for (int rank = running.size() - 1; rank >= 0; rank--) {
            Running each = running.at(rank);
            if (mayTakePages(newcomer, each) && claim(RunningSet.key(each)) > most) {
                most = claim(RunningSet.key(each));
                victim = each;
            }
        }
        return victim;
    }

    /** Whether a newcomer may be given this one's pages. */
    boolean mayTakePages(Sequence newcomer, Running each) {
        if (isOfItsKey(newcomer, each)) {
            return each.sequence().scheduling().priority()
                    < newcomer.scheduling().priority();
        }
        return counters.of(RunningSet.key(each)).served >= counters.of(key(newcomer)).served
                && claim(RunningSet.key(each)) > part()
                && isWithinPart(newcomer);
    }

    /** Whether a newcomer's key claims no more than its part when this one runs. */
    boolean isWithinPart(Sequence newcomer) {
        return claim(key(newcomer)) + admission.need(newcomer.length()) <= part();
    }

    /** Who gives a page to one that runs and grows, or null: it waits in place then. */
    @Nullable
    Running whoGivesTo(Running grown) {
        boolean isFirst = running.at(0) == grown;
        Running last = running.last();
        if (counters.keys() == 1) {
            return last == grown ? null : last;
        }
        boolean isBeyond = claim(RunningSet.key(grown)) > part();
        Running victim = beyondPart(grown, isBeyond);
        if (victim == null && last != grown && (isFirst || !isBeyond)) {
            return last;
        }
        return victim;
    }

    /** The lowest of those whose keys claim more than their part; if {@code isBelow}, of those that rank below. */
    private @Nullable Running beyondPart(Running grown, boolean isBelow) {
        for (int rank = running.size() - 1; rank > 0; rank--) {
            Running each = running.at(rank);
            if (each == grown) {
                if (isBelow) {
                    return null;
                }
            } else if (claim(RunningSet.key(each)) > part()) {
                return each;
            }
        }
        return null;
    }

    private @Nullable Running lowerOfItsKey(Sequence newcomer) {
        for (int rank = running.size() - 1; rank >= 0; rank--) {
            Running each = running.at(rank);
            if (isOfItsKey(newcomer, each)) {
                boolean isLower = each.sequence().scheduling().priority()
                        < newcomer.scheduling().priority();
                return isLower ? each : null;
            }
        }
        return null;
    }

    private long part() {
        return admission.pages() / Math.max(1, counters.keys());
    }

    private long claim(String key) {
        long claim = 0;
        for (int rank = 0; rank < running.size(); rank++) {
            Running each = running.at(rank);
            claim += key.equals(RunningSet.key(each)) ? admission.claim(each) : 0;
        }
        return claim;
    }

    private static boolean isOfItsKey(Sequence newcomer, Running each) {
        return key(newcomer).equals(RunningSet.key(each));
    }

    private static String key(Sequence sequence) {
        return sequence.scheduling().key();
    }
}
