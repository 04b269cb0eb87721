package roselle.scheduler;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.batch.Batch;
import roselle.batch.Pending;
import roselle.batch.Running;
import roselle.batch.Sequence;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixMatch;

/**
 * Fills one step: generating sequences first, then prompts by rank, then newcomers.
 *
 * <p>A step that is planned ahead is filled in the same way, from what the step under way will have done, {@link Running#expect}. It
 * never takes pages away, because the step under way works on them: where planning would preempt, there is no step ahead. A sequence
 * whose next token only the host will know has no row in it.
 */
final class StepPlanner {
    private final SchedulerLimits limits;
    private final PageCache cache;
    private final Admission admission;
    private final ServiceCounters counters;
    private final PendingQueue queue;
    private final RunningSet running;
    private final Totals totals;
    private Batch batch;
    private int spareRows; // rows beyond one for every sequence that may run
    private int spareOutputs;
    private boolean isAdmitting;
    private boolean isAhead;
    private boolean mustPreempt; // and may not
    private long now;

    StepPlanner(SchedulerLimits limits, PageCache cache, Admission admission, SchedulerState state, Batch batch) {
        this.limits = limits;
        this.cache = cache;
        this.admission = admission;
        this.batch = batch;
        counters = state.counters();
        queue = state.queue();
        running = state.running();
        totals = state.totals();
    }

    void plan(Batch step, long time) {
        now = time;
        batch = step;
        batch.clear();
        spareRows = limits.stepTokens() - limits.maxSequences();
        spareOutputs = limits.stepOutputs() - limits.maxSequences();
        isAdmitting = true;
        mustPreempt = false;
        planGenerating();
        planPromptsAndNewcomers();
    }

    /**
     * Fills the step after the one under way. It stays empty where pages would have to be taken away first.
     *
     * @param cancelled those who will not go on
     */
    void planAhead(Batch underWay, Batch step, List<Sequence> cancelled, long time) {
        expect(underWay);
        for (int i = 0; i < cancelled.size(); i++) {
            if (cancelled.get(i).state() instanceof Running each) {
                each.sitOut();
            }
        }
        isAhead = true;
        plan(step, time);
        isAhead = false;
        for (int rank = 0; rank < running.size(); rank++) {
            running.at(rank).expectNothing();
        }
        if (mustPreempt) {
            step.clear();
        }
    }

    private static void expect(Batch underWay) {
        int output = 0;
        for (int entry = 0; entry < underWay.size(); entry++) {
            output += underWay.outputs(entry);
            if (underWay.isDropped(entry)) {
                continue;
            }
            Running each = underWay.running(entry);
            boolean samples = underWay.sampledRows(entry) > 0;
            boolean isLast = each.sequence().length() + 1 == each.sequence().maxLength();
            each.expect(underWay.rows(entry), samples ? output - 1 : -1);
            if (samples && (isLast || !underWay.isSampledOnDevice(entry))) {
                each.sitOut();
            }
        }
    }

    private void planGenerating() {
        for (int rank = 0; rank < running.size() && !mustPreempt; rank++) {
            Running each = running.at(rank);
            if (each.remaining() == 1) {
                advance(each, 1 + draftsFor(each));
            }
        }
    }

    private int draftsFor(Running each) {
        if (each.awaitsToken()) {
            return 0;
        }
        Sequence sequence = each.sequence();
        int room = Math.min(spareRows, spareOutputs);
        int drafts = Math.min(each.draftCount(), Math.min(room, sequence.maxLength() - sequence.length() - 1));
        return Math.max(0, drafts);
    }

    private void planPromptsAndNewcomers() {
        int rank = nextPrompt(0);
        while (batch.totalRows() < limits.stepTokens() && !mustPreempt) {
            Pending newcomer = isAdmitting ? queue.peek() : null;
            Running prompt = rank < running.size() ? running.at(rank) : null;
            if (newcomer != null && (prompt == null || hasHigherPriority(newcomer, prompt))) {
                Running admitted = admit(newcomer);
                isAdmitting = admitted != null;
                if (admitted != null) {
                    advance(admitted, limits.chunkTokens());
                }
                // Ranks have shifted: those planned are skipped, those that stalled may try again.
                rank = nextPrompt(0);
            } else if (prompt != null) {
                advance(prompt, limits.chunkTokens());
                rank = nextPrompt(rank + 1);
            } else {
                return;
            }
        }
    }

    private static boolean hasHigherPriority(Pending newcomer, Running other) {
        return newcomer.sequence().scheduling().priority()
                > other.sequence().scheduling().priority();
    }

    /** The rank, from {@code from} on, of a sequence that reads its prompt and has no rows in this step yet. */
    private int nextPrompt(int from) {
        int rank = from;
        while (rank < running.size() && (running.at(rank).remaining() <= 1 || batch.contains(running.at(rank)))) {
            rank++;
        }
        return rank;
    }

    /** Gives a sequence up to {@code wanted} rows, as far as budget and pages allow. */
    private void advance(Running each, int wanted) {
        int rows = Math.min(wanted, rowsAllowed(each));
        int computed = each.expectedComputed();
        int fit = each.pages().reserve(computed + rows) - computed;
        while (fit < 1 && running.last() != each) {
            if (isAhead) {
                mustPreempt = true;
                return;
            }
            preempt(running.last());
            isAdmitting = false; // the pages taken are not for newcomers
            fit = each.pages().reserve(computed + rows) - computed;
        }
        if (fit >= 1) {
            add(each, Math.min(fit, rows));
        }
    }

    private int rowsAllowed(Running each) {
        int rows = Math.min(
                each.remaining() + (each.remaining() == 1 ? draftsFor(each) : 0),
                limits.stepTokens() - batch.totalRows());
        if (!each.sequence().scoresPrompt()) {
            return rows;
        }
        int known = Math.max(0, each.sequence().scored() - each.expectedComputed());
        return Math.min(rows, known + 1 + spareOutputs);
    }

    private void add(Running each, int rows) {
        int outputs = outputs(each, rows);
        if (each.remaining() == 1) {
            spareRows -= rows - 1;
        }
        spareOutputs -= Math.max(0, outputs - 1);
        batch.add(each, rows, outputs);
    }

    private static int outputs(Running each, int rows) {
        Sequence sequence = each.sequence();
        int computed = each.expectedComputed();
        int end = computed + rows;
        int first = sequence.scoresPrompt() ? sequence.scored() : computed + each.remaining() - 1;
        return Math.max(0, end - Math.max(computed, first));
    }

    /** Starts the sequence whose turn it is, or returns null when there is no room for it. */
    private @Nullable Running admit(Pending newcomer) {
        Sequence sequence = newcomer.sequence();
        if (running.size() == limits.maxSequences() && !preemptBelow(sequence)) {
            return null;
        }
        PrefixMatch match = match(sequence);
        while (!admission.fits(match, sequence.length(), running)) {
            int priority = sequence.scheduling().priority();
            if (!admission.couldFit(match, sequence.length(), running, priority) || !preemptBelow(sequence)) {
                return null;
            }
            match = match(sequence);
        }
        queue.remove(newcomer);
        var pages = cache.open(match, sequence.maxLength());
        Running admitted = newcomer.admit(pages, match.tokens());
        running.add(admitted);
        if (sequence.admitted(now, match.tokens())) {
            totals.promptTokens += sequence.promptLength();
            totals.cachedTokens += sequence.cachedTokens();
        }
        chargePrompt(sequence, match.tokens());
        return admitted;
    }

    private PrefixMatch match(Sequence sequence) {
        int limit = sequence.scoresPrompt() ? sequence.scored() : sequence.length() - 1;
        return cache.match(sequence.scheduling().scope(), sequence.ids(), limit);
    }

    /** Charges the prompt when it starts, so that a key's many newcomers of one step count against each other. */
    private void chargePrompt(Sequence sequence, int cached) {
        sequence.chargeUpTo(cached);
        long fresh = sequence.chargeUpTo(sequence.promptLength());
        counters.of(sequence.scheduling().key()).served += fresh * ServiceCounters.READ_WEIGHT;
    }

    /** Preempts the lowest-ranked sequence if its priority is below that of {@code sequence}. */
    private boolean preemptBelow(Sequence sequence) {
        Running lowest = running.isEmpty() ? null : running.last();
        if (lowest == null
                || lowest.sequence().scheduling().priority()
                        >= sequence.scheduling().priority()) {
            return false;
        }
        if (isAhead) {
            mustPreempt = true;
            return false;
        }
        preempt(lowest);
        return true;
    }

    /** Takes a sequence's pages away, and its rows out of this step. */
    void preempt(Running victim) {
        totals.preemptions++;
        batch.remove(victim);
        running.remove(victim);
        queue.add(victim.preempt());
    }
}
