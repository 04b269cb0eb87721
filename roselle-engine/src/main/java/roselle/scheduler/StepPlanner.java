package roselle.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import roselle.batch.Batch;
import roselle.batch.Pending;
import roselle.batch.Running;
import roselle.batch.Sequence;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixMatch;

/**
 * Fills one step: generating sequences first, then newcomers of keys that have nothing running, then prompts, of each key in turn,
 * then further newcomers.
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
    private final Shares shares;
    private final Background background;
    private final Predicate<Sequence> isWithinPart;
    private final List<Running> stalled = new ArrayList<>(); // prompts that found no page in this step
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
        shares = new Shares(admission, counters, running);
        isWithinPart = shares::isWithinPart;
        background = new Background(counters);
    }

    Background background() {
        return background;
    }

    void plan(Batch step, long time) {
        now = time;
        batch = step;
        batch.clear();
        spareRows = limits.stepTokens() - limits.maxSequences();
        spareOutputs = limits.stepOutputs() - limits.maxSequences();
        isAdmitting = true;
        mustPreempt = false;
        stalled.clear();
        counters.beginStep();
        background.beginStep(now, isAhead);
        vacatePlace();
        planAll();
        if (batch.isEmpty() && !isAhead && !running.isEmpty()) {
            background.ignore();
            planAll();
        }
    }

    private void planAll() {
        planGenerating();
        planPromptsAndNewcomers();
        planFirst();
    }

    private boolean mayHaveRows(Running each) {
        return background.rows(each.sequence(), 1) > 0;
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
            counters.giveBackPromptTurns();
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

    /** Frees a place for a key that has nothing running, first, because those who generate may take all rows of the step. */
    private void vacatePlace() {
        Pending newcomer = running.size() == limits.maxSequences() ? queue.peek() : null;
        if (newcomer != null && hasNothingRunning(newcomer)) {
            takePlace(shares.whoGivesPlace(newcomer.sequence()));
        }
    }

    private boolean hasNothingRunning(Pending newcomer) {
        return counters.of(newcomer.sequence().scheduling().key()).running == 0;
    }

    private void planGenerating() {
        boolean hasShifted = false;
        for (int rank = 0; rank < running.size() && !mustPreempt; rank++) {
            Running each = running.at(rank);
            if (each.isGenerating()
                    && each.remaining() > 0
                    && mayHaveRows(each)
                    && !(hasShifted && batch.contains(each))) {
                long before = totals.preemptions;
                advance(each, rowsToGenerate(each), 0);
                if (totals.preemptions != before) { // ranks have shifted
                    hasShifted = true;
                    rank = -1;
                }
            }
        }
    }

    /** A row for its last known token, and as many for forced ones before that and drafts behind it as there is room for. */
    private int rowsToGenerate(Running each) {
        int known = Math.min(each.remaining(), 1 + Math.min(spareRows, limits.chunkTokens() - 1));
        return known < each.remaining() ? known : known + draftsFor(each);
    }

    private int draftsFor(Running each) {
        if (each.awaitsToken()) {
            return 0;
        }
        Sequence sequence = each.sequence();
        int room = Math.min(spareRows - each.remaining() + 1, spareOutputs);
        int drafts = Math.min(each.draftCount(), Math.min(room, sequence.maxLength() - sequence.length() - 1));
        return Math.max(0, drafts);
    }

    private void planPromptsAndNewcomers() {
        while (hasRoom() && !mustPreempt) {
            Pending newcomer = isAdmitting ? queue.peek() : null;
            Running prompt = nextPrompt();
            if (newcomer != null && (prompt == null || goesBefore(newcomer, prompt))) {
                isAdmitting = admit(newcomer) || admitInstead(newcomer);
                stalled.clear(); // places have changed: those that stalled may try again
            } else if (prompt != null) {
                advancePrompt(prompt);
            } else {
                return;
            }
        }
    }

    /**
     * Starts one of a key that has nothing running in the place of one that needs more than its key's part of the pages: until those
     * are free, small requests pass it, but not for ever.
     */
    private boolean admitInstead(Pending large) {
        Pending instead = shares.isWithinPart(large.sequence()) ? null : queue.peekPast(large, isWithinPart);
        return instead != null && admit(instead);
    }

    /** Whether anyone but the first in rank can have a row; one is kept for that. */
    private boolean hasRoom() {
        return batch.totalRows() < limits.stepTokens() - rowsKept();
    }

    private int rowsKept() {
        return running.isEmpty()
                        || running.at(0).remaining() < 1
                        || batch.contains(running.at(0))
                        || !mayHaveRows(running.at(0))
                ? 0
                : 1;
    }

    /** The first in rank has rows in every step that is not planned ahead, however few: that is why every sequence ends. */
    private void planFirst() {
        if (!mustPreempt && rowsKept() == 1) {
            advance(running.at(0), limits.chunkTokens(), 0);
        }
    }

    private boolean goesBefore(Pending newcomer, Running prompt) {
        var scheduling = newcomer.sequence().scheduling();
        return hasNothingRunning(newcomer)
                || (scheduling.key().equals(RunningSet.key(prompt))
                        && scheduling.priority()
                                > prompt.sequence().scheduling().priority());
    }

    /** The prompt whose key has waited longest for rows, the first in rank of that key; null when all have theirs or stall. */
    private @Nullable Running nextPrompt() {
        Running next = null;
        long turn = Long.MAX_VALUE;
        for (int rank = 0; rank < running.size(); rank++) {
            Running each = running.at(rank);
            if (each.remaining() > 1
                    && !each.isGenerating()
                    && !batch.contains(each)
                    && !stalled.contains(each)
                    && mayHaveRows(each)) {
                long waited = counters.of(RunningSet.key(each)).promptTurn;
                if (waited < turn) {
                    turn = waited;
                    next = each;
                }
            }
        }
        return next;
    }

    private void advancePrompt(Running prompt) {
        counters.takePromptTurn(RunningSet.key(prompt));
        advance(prompt, limits.chunkTokens(), prompt == running.at(0) ? 0 : rowsKept());
        if (!batch.contains(prompt)) {
            stalled.add(prompt);
        }
    }

    /** Gives a sequence up to {@code wanted} rows, as far as pages allow, and the budget without the rows {@code kept} in it. */
    private void advance(Running each, int wanted, int kept) {
        int rows = background.rows(each.sequence(), Math.min(wanted, rowsAllowed(each) - kept));
        int computed = each.expectedComputed();
        int fit = each.pages().reserve(computed + rows, each.sequence().length()) - computed;
        while (fit < 1) {
            Running victim = shares.whoGivesTo(each);
            if (victim == null) {
                return;
            }
            if (isAhead) {
                mustPreempt = true;
                return;
            }
            preempt(victim);
            isAdmitting = false; // the pages taken are not for newcomers
            fit = each.pages().reserve(computed + rows, each.sequence().length()) - computed;
        }
        add(each, Math.min(fit, rows));
    }

    private int rowsAllowed(Running each) {
        int rows = Math.min(
                each.isGenerating() ? rowsToGenerate(each) : each.remaining(), limits.stepTokens() - batch.totalRows());
        if (!each.sequence().scoresPrompt()) {
            return rows;
        }
        int known = Math.max(0, each.sequence().scored() - each.expectedComputed());
        return Math.min(rows, known + 1 + spareOutputs);
    }

    private void add(Running each, int rows) {
        int outputs = outputs(each, rows);
        if (each.isGenerating()) {
            spareRows -= rows - 1;
        }
        spareOutputs -= Math.max(0, outputs - 1);
        batch.add(each, rows, outputs);
        background.take(each.sequence(), rows);
    }

    private static int outputs(Running each, int rows) {
        Sequence sequence = each.sequence();
        int computed = each.expectedComputed();
        int end = computed + rows;
        int first = sequence.scoresPrompt() ? sequence.scored() : computed + each.remaining() - 1;
        return Math.max(0, end - Math.max(computed, first));
    }

    /** Starts a sequence, unless there is no room for it. */
    private boolean admit(Pending newcomer) {
        Sequence sequence = newcomer.sequence();
        if (running.size() == limits.maxSequences() && !takePlace(shares.whoGivesPlace(sequence))) {
            return false;
        }
        PrefixMatch match = match(sequence);
        while (!admission.fits(match, sequence.length(), running)) {
            if (!admission.couldFit(match, sequence, running, shares) || !takePlace(shares.whoGivesPages(sequence))) {
                return false;
            }
            match = match(sequence);
        }
        if (!cache.hasRootFor(match)) {
            return false;
        }
        queue.remove(newcomer);
        var pages = cache.open(match, sequence.maxLength(), sequence.promptLength());
        Running admitted = newcomer.admit(pages, match.tokens());
        running.add(admitted);
        if (sequence.admitted(now, match.tokens())) {
            totals.promptTokens += sequence.promptLength();
            totals.cachedTokens += sequence.cachedTokens();
        }
        chargePrompt(sequence, match.tokens());
        return true;
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

    /** Preempts who gives its place or pages to a newcomer, if there is anyone and this is not a step ahead. */
    private boolean takePlace(@Nullable Running victim) {
        if (victim == null) {
            return false;
        }
        if (isAhead) {
            mustPreempt = true;
            return false;
        }
        preempt(victim);
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
