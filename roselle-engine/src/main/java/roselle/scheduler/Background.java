package roselle.scheduler;

import roselle.batch.Batch;
import roselle.batch.Sequence;
import roselle.scheduler.ServiceCounters.Account;

/**
 * What sequences in the background, such as a batch's, have of a step: nothing while their key has others here; and in the seconds
 * after that, when one of these may come at any moment and waits for the end of the step under way, so few rows that the step takes no
 * longer than {@link #OTHERS_STEPS} steps of the others have taken. When nobody has come for a while they have all rows.
 *
 * <p>How many rows that are is found out: one more where a step was fast enough, a quarter less where it was not.
 */
final class Background {
    static final long WATCHFUL_NANOS = 10_000_000_000L;
    static final int OTHERS_STEPS = 2;

    private static final int SMOOTHING = 8;

    private final ServiceCounters counters;
    private long othersNanos; // of a step in which others generate and nobody reads a prompt
    private int mostRows = 1;
    private int left; // of the step being planned
    private long now;
    private boolean isAhead;
    private boolean isIgnored;
    private boolean wasLimited;

    Background(ServiceCounters counters) {
        this.counters = counters;
    }

    /** A step is about to be planned. */
    void beginStep(long time, boolean isPlannedAhead) {
        now = time;
        isAhead = isPlannedAhead;
        isIgnored = false;
        left = mostRows;
        wasLimited = false;
    }

    /** Nobody else can advance in this step. */
    void ignore() {
        isIgnored = true;
    }

    /** Rows that a sequence may have in this step, of those that it wants. */
    int rows(Sequence sequence, int wanted) {
        if (isIgnored || !sequence.scheduling().isBackground()) {
            return wanted;
        }
        Account account = counters.of(sequence.scheduling().key());
        if (account.foreground > 0) {
            account.hasHadForeground = true;
            account.lastForeground = now;
            return 0;
        }
        if (!account.hasHadForeground || now - account.lastForeground >= WATCHFUL_NANOS) {
            return wanted;
        }
        if (isAhead) {
            return 0; // who comes waits for one step, not for two
        }
        wasLimited |= wanted > left;
        return Math.min(wanted, left);
    }

    /** A sequence has been given rows. */
    void take(Sequence sequence, int rows) {
        if (sequence.scheduling().isBackground()) {
            left -= rows;
        }
    }

    /** Learns from a step of both kinds what rows cost. */
    void stepTook(Batch step, long nanos) {
        boolean hasBackground = false;
        for (int entry = 0; entry < step.size(); entry++) {
            hasBackground |= step.sequence(entry).scheduling().isBackground();
        }
        if (!hasBackground) {
            if (step.totalRows() == step.size()) {
                othersNanos = othersNanos == 0 ? nanos : othersNanos + (nanos - othersNanos) / SMOOTHING;
            }
        } else if (nanos > OTHERS_STEPS * othersNanos) {
            mostRows = Math.max(1, Math.min(mostRows, step.totalRows()) * 3 / 4);
        } else if (wasLimited) {
            mostRows++;
        }
    }
}
