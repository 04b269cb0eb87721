package roselle.scheduler;

import roselle.batch.Batch;
import roselle.batch.Sequence;
import roselle.scheduler.ServiceCounters.Account;

/**
 * What sequences in the background, such as a batch's, have of a step. While their key has others here, so few rows that a step of the
 * others takes hardly longer: none where each row costs time, many where a device has some almost for nothing. In the seconds after
 * that, when one of the others may come at any moment and waits for the end of the step under way, so few that the step takes no longer
 * than {@link #OTHERS_STEPS} of theirs have taken. When nobody has come for a while they have all rows.
 *
 * <p>How many rows that are is found out: one more where a step was fast enough, a quarter less where it was not. Beside others one row
 * is tried in one of {@link #TRIED} steps, whatever it costs, so that a key that is never without others gets on with its batches.
 */
final class Background {
    static final long WATCHFUL_NANOS = 10_000_000_000L;
    static final int OTHERS_STEPS = 2;
    static final int TRIED = 64;

    /** How much longer a step of others may take with rows of the background beside them. */
    private static final double BESIDE = 1.04;

    /** In one of so many steps of others there are no rows beside them, so that it stays known what these steps take. */
    private static final int BARE = 8;

    private static final int SMOOTHING = 8;

    private final ServiceCounters counters;
    private long othersNanos; // of a step in which others generate and nobody reads a prompt
    private long othersSteps;
    private int mostBeside;
    private int mostAfter = 1;
    private int leftBeside; // of the step being planned
    private int leftAfter;
    private long now;
    private boolean isAhead;
    private boolean isIgnored;

    Background(ServiceCounters counters) {
        this.counters = counters;
    }

    /** A step is about to be planned. */
    void beginStep(long time, boolean isPlannedAhead) {
        now = time;
        isAhead = isPlannedAhead;
        isIgnored = false;
        leftAfter = mostAfter;
        if (othersSteps % TRIED == TRIED - 1) {
            leftBeside = Math.max(1, mostBeside);
        } else {
            leftBeside = othersSteps % BARE == 0 ? 0 : mostBeside;
        }
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
            return Math.min(wanted, leftBeside);
        }
        if (!account.hasHadForeground || now - account.lastForeground >= WATCHFUL_NANOS) {
            return wanted;
        }
        return isAhead ? 0 : Math.min(wanted, leftAfter); // who comes waits for one step, not for two
    }

    /** A sequence has been given rows. */
    void take(Sequence sequence, int rows) {
        if (sequence.scheduling().isBackground()) {
            leftBeside -= rows;
            leftAfter -= rows;
        }
    }

    /** Learns from a step what rows cost. */
    void stepTook(Batch step, long nanos) {
        int behind = 0;
        int others = 0;
        boolean isBeside = false; // of the same key
        boolean hasPrompts = false;
        for (int entry = 0; entry < step.size(); entry++) {
            Sequence sequence = step.sequence(entry);
            if (sequence.scheduling().isBackground()) {
                behind += step.rows(entry);
                isBeside |= counters.hasForeground(sequence.scheduling().key());
            } else {
                others++;
                hasPrompts |= step.rows(entry) > 1;
            }
        }
        othersSteps += others > 0 ? 1 : 0;
        if (behind == 0 && !hasPrompts) {
            othersNanos = othersNanos == 0 ? nanos : othersNanos + (nanos - othersNanos) / SMOOTHING;
        } else if (others > 0 && isBeside && !hasPrompts) {
            mostBeside = learn(mostBeside, behind, nanos <= BESIDE * othersNanos);
        } else if (others == 0) {
            mostAfter = Math.max(1, learn(mostAfter, behind, nanos <= OTHERS_STEPS * othersNanos));
        }
    }

    private static int learn(int most, int taken, boolean isFast) {
        if (!isFast) {
            return Math.min(most, taken) * 3 / 4;
        }
        return taken >= most ? most + 1 : most;
    }
}
