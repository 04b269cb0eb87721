package roselle.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.FailureKind;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.Pending;
import roselle.batch.Running;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.TokenConstraint;
import roselle.batch.Waiting;
import roselle.kvcache.PageCache;

/**
 * Decides which sequences advance by how many tokens; {@link #plan} and {@link #commit} take turns.
 *
 * <p>A plan fills the step's token budget in this order: one row for each sequence that generates (and its forced tokens and drafts,
 * as far as there is room beyond one row for everyone), then a newcomer of each key that has nothing running, then chunks of prompts, those of
 * the key first whose prompts have waited longest, with further sequences admitted when their priority is higher than that of a
 * prompt of their key, or when all running ones have had their part. Keys rank by arrival, a key's sequences by priority, then
 * arrival ({@link RunningSet}).
 *
 * <p>Why nothing deadlocks: nobody takes pages from the first in rank in order to grow, and it takes them from whom it must; so it
 * always advances, alone if need be, and alone it fits, or {@link #submit} had refused it. One that finds no page and nobody to
 * take it from waits in place. The head of the queue is not passed by a smaller request behind it of a key that has something
 * running, so the sequences before it finish and it gets its turn.
 *
 * <p>Why no key starves ({@link Shares}): priorities order a key's own sequences alone. A key that has nothing running is next in the
 * queue, takes a place of the key that has most of them, and pages of one that holds more than its part; its prompt is read in turn
 * with those of the other keys.
 *
 * <p>Sequences of the lowest priority are in the background and give way in steps, too ({@link Background}): the first in rank is then
 * the first of those that do not, and where nobody else can advance, they do.
 *
 * <p>A step may be planned ahead, {@link #planAhead}, while the one before it is under way. It is filled like any other, from what
 * will be known of positions and pages when that one is done; but it takes no pages away, because that one works on them: where it
 * would have to, there is no step ahead, and the next one is planned, with preemption, when the one under way is committed. So the
 * first in rank has rows in one of any two steps that follow each other, and nothing deadlocks still. Where a sequence ends in the
 * step under way, its end is told at once, but its pages are held until the step ahead, which still writes to them, is committed.
 *
 * <p>Where a sequence's constraint leaves one token only, {@link #commit} gives it that one at once, and those that must follow it: they
 * are computed together, in the row of the sampled token and further ones, and nothing is sampled between them. Drafts, which are only
 * likely, would follow behind them. A step that was planned ahead has a row for the sampled token alone; its sampling is left out, and
 * the forced ones come in the step after it.
 *
 * <p>No thread, clock or device: time is a parameter, and the same calls give the same answers.
 */
public final class Scheduler {
    /** Tokens that a sequence is given in a step without sampling: the others wait while its constraint finds them. */
    static final int MAX_FORCED = 16;

    private final SchedulerLimits limits;
    private final PageCache cache;
    private final Admission admission;
    private final ServiceCounters counters = new ServiceCounters();
    private final PendingQueue queue = new PendingQueue(counters);
    final RunningSet running = new RunningSet(counters);
    private final Totals totals = new Totals();
    private final List<Sequence> cancelled = new ArrayList<>(); // while a step is under way
    private final List<Finished> ended = new ArrayList<>();
    private final List<Sequence> expired = new ArrayList<>(); // noted while the collections are walked
    final StepPlanner planner;
    private Batch batch; // the step under way
    private Batch ahead; // the one after it
    private long nextDeadline = Scheduling.NO_DEADLINE; // no later than the earliest one
    private String lastFailure = "";
    private boolean isStepUnderWay;
    private boolean isPlannedAhead;

    public Scheduler(SchedulerLimits limits, PageCache cache) {
        this.limits = limits;
        this.cache = cache;
        admission = new Admission(cache, limits);
        batch = new Batch(limits.maxSequences());
        ahead = new Batch(limits.maxSequences());
        planner =
                new StepPlanner(limits, cache, admission, new SchedulerState(counters, queue, running, totals), batch);
    }

    /** Tokens of the longest sequence that can be served: the model's context, or less where the cache holds less. */
    public int longestSequence() {
        return admission.longest();
    }

    /** Sequences that have not run yet. */
    public int waiting() {
        return queue.waitingCount();
    }

    /** Sequences that have run, lost their pages, and wait to go on. */
    public int preempted() {
        return queue.size() - queue.waitingCount();
    }

    /** Why an answer failed in a step, if no token was generated since; else empty. */
    public String lastFailure() {
        return lastFailure;
    }

    /** What was done so far. */
    public Totals totals() {
        return totals;
    }

    /** Sequences that hold pages. */
    public int running() {
        return running.size();
    }

    public boolean isIdle() {
        return running.isEmpty() && queue.isEmpty();
    }

    /** Queues a sequence, or refuses it: the queue is full, or it could not run even alone. */
    public void submit(Waiting waiting) {
        Sequence sequence = waiting.sequence();
        admission.requirePossible(sequence.promptLength(), sequence.maxLength());
        if (queue.waitingCount() >= limits.queueLength()) {
            throw new CapacityException("the queue is full: " + queue.waitingCount() + " requests wait of at most "
                    + limits.queueLength() + "; try again later");
        }
        counters.enter(sequence.scheduling().key(), sequence.scheduling().isBackground());
        queue.add(waiting);
        nextDeadline = Math.min(nextDeadline, sequence.scheduling().deadlineNanos());
    }

    /** Ends a sequence that its caller no longer wants, at once or, if it is in the step under way, when that commits. */
    public void cancel(Sequence sequence) {
        if (isStepUnderWay && sequence.state() instanceof Running) {
            cancelled.add(sequence);
        } else {
            end(sequence, new Outcome.Cancelled());
        }
    }

    /** Ends everything, for when the device or the engine is lost. */
    public void failAll(FailureKind kind, String message) {
        if (isStepUnderWay) {
            releaseDropped(batch);
        }
        isStepUnderWay = false;
        isPlannedAhead = false;
        cancelled.clear();
        var failed = new Outcome.Failed(kind, message);
        while (!running.isEmpty()) {
            end(running.last().sequence(), failed);
        }
        for (Pending next = queue.peek(); next != null; next = queue.peek()) {
            end(next.sequence(), failed);
        }
    }

    /** Gives back the pages that were held because this step writes to them. */
    private static void releaseDropped(Batch step) {
        int dropped = 0;
        for (int entry = 0; entry < step.size(); entry++) {
            if (step.isDropped(entry) && !step.running(entry).pages().isReleased()) {
                step.running(entry).releasePages();
                dropped++;
            }
        }
        step.recordDropped(dropped);
    }

    /**
     * The next step; it is empty when there is nothing to do. Unless it is empty, {@link #commit} or {@link #failAll} must
     * follow. The batch is one of two objects that take turns.
     */
    public Batch plan(long now) {
        requireNoStep();
        expire(now);
        planner.plan(batch, now);
        if (batch.isEmpty() && !isIdle()) {
            throw new IllegalStateException(
                    "no sequence can advance: " + running.size() + " run, " + queue.size() + " wait");
        }
        isStepUnderWay = !batch.isEmpty();
        return batch;
    }

    /**
     * The step after the one under way, planned before its tokens are known: the rows of the tokens that the device is sampling,
     * chunks of prompts, newcomers. A sequence whose token only the host will know, or that is known to end, has no row in it. It is
     * empty, and must be planned when the step under way is committed, if sequences would have to give up pages or a deadline has
     * passed. Unless it is empty, the commit of the step under way makes it the next one under way.
     */
    public Batch planAhead(long now) {
        if (!isStepUnderWay || isPlannedAhead) {
            throw new IllegalStateException("a step is planned ahead of one that is under way, and of no other");
        }
        if (now >= nextDeadline) {
            ahead.clear();
        } else {
            planner.planAhead(batch, ahead, cancelled, now);
        }
        isPlannedAhead = !ahead.isEmpty();
        return ahead;
    }

    /** Whether a step is to be committed before the next can be planned. */
    public boolean isStepUnderWay() {
        return isStepUnderWay;
    }

    /** The step under way. */
    public Batch stepUnderWay() {
        return batch;
    }

    private void requireNoStep() {
        if (isStepUnderWay) {
            throw new IllegalStateException("the step under way is not committed");
        }
    }

    private void expire(long now) {
        if (now < nextDeadline) {
            return;
        }
        nextDeadline = Scheduling.NO_DEADLINE;
        queue.forEach(pending -> noteDeadline(pending.sequence(), now));
        for (int rank = 0; rank < running.size(); rank++) {
            noteDeadline(running.at(rank).sequence(), now);
        }
        for (Sequence each : expired) {
            var scheduling = each.scheduling();
            long millis = (scheduling.deadlineNanos() - scheduling.arrivalNanos()) / 1_000_000;
            String message = "the deadline of " + millis + " ms passed after " + each.generated() + " generated tokens";
            end(each, new Outcome.Failed(FailureKind.DEADLINE, message));
        }
        expired.clear();
    }

    private void noteDeadline(Sequence sequence, long now) {
        long deadline = sequence.scheduling().deadlineNanos();
        if (deadline <= now) {
            expired.add(sequence);
        } else {
            nextDeadline = Math.min(nextDeadline, deadline);
        }
    }

    /** Says what the step under way has taken, before it is committed: rows in the background are measured by it. */
    public void stepTook(long nanos) {
        planner.background().stepTook(batch, nanos);
    }

    /**
     * Takes in what the step under way sampled: sequences grow and may end, full pages become shareable. {@link Batch#appended}
     * then says how many tokens each entry gained: those sampled, without those after a stop token, and those that were forced behind
     * them.
     */
    public void commit(StepResult result) {
        if (!isStepUnderWay || result.entries() != batch.size()) {
            throw new IllegalStateException("results of " + result.entries() + " sequences for a step of "
                    + (isStepUnderWay ? batch.size() : 0));
        }
        releaseDropped(batch);
        long before = totals.generatedTokens;
        for (int entry = 0; entry < batch.size(); entry++) {
            commit(entry, result);
        }
        if (totals.generatedTokens > before) {
            lastFailure = "";
        }
        for (int i = 0; i < cancelled.size(); i++) { // an iterator would be an object for each step
            end(cancelled.get(i), new Outcome.Cancelled());
        }
        cancelled.clear();
        turnToNext();
    }

    private void turnToNext() {
        Batch done = batch;
        batch = ahead;
        ahead = done;
        isStepUnderWay = isPlannedAhead;
        isPlannedAhead = false;
    }

    private void commit(int entry, StepResult result) {
        Running advanced = batch.running(entry);
        if (batch.isDropped(entry)) {
            return;
        }
        Outcome.Failed failure = result.failure(entry);
        if (failure != null) {
            lastFailure = failure.kind() == FailureKind.INTERNAL ? failure.message() : lastFailure;
            end(advanced.sequence(), failure);
            return;
        }
        Outcome outcome = append(entry, result);
        if (outcome != null) {
            end(advanced.sequence(), outcome);
        }
    }

    private @Nullable Outcome append(int entry, StepResult result) {
        Running advanced = batch.running(entry);
        Sequence sequence = advanced.sequence();
        int sampled = result.count(entry);
        int expected = batch.sampledRows(entry);
        if (sampled > expected || (sampled == 0 && expected > 0)) {
            throw new IllegalStateException(
                    "sequence " + sequence.id() + " sampled " + sampled + " tokens from " + expected + " rows");
        }
        int computed = advanced.computed() + batch.rows(entry);
        Outcome outcome = null;
        int appended = 0;
        while (appended < sampled && outcome == null) {
            int token = result.token(entry, appended++);
            sequence.append(token);
            outcome = outcomeAfter(sequence, token);
        }
        advanced.advanceTo(sampled == 0 ? computed : sequence.length() - 1);
        if (appended > 0 && outcome == null) {
            int length = sequence.length();
            outcome = appendForced(advanced);
            appended += sequence.length() - length;
        }
        batch.recordAppended(entry, appended);
        totals.generatedTokens += appended;
        sequence.scoredTo(Math.min(advanced.computed(), sequence.promptLength() - 1));
        charge(sequence, advanced.computed(), appended);
        return outcome;
    }

    /** Gives a sequence the tokens that must follow the one that it has sampled. */
    private @Nullable Outcome appendForced(Running advanced) {
        Sequence sequence = advanced.sequence();
        Outcome outcome = null;
        int forced = 0;
        while (forced < MAX_FORCED && outcome == null) {
            int token = sequence.forcedToken();
            if (token == TokenConstraint.NOT_FORCED) {
                break;
            }
            sequence.append(token);
            forced++;
            outcome = outcomeAfter(sequence, token);
        }
        totals.forcedTokens += forced;
        if (forced > 0 && isPlannedAhead) {
            ahead.leaveUnsampled(advanced);
        }
        return outcome;
    }

    private static @Nullable Outcome outcomeAfter(Sequence sequence, int token) {
        if (sequence.generated() > sequence.plan().minTokens && sequence.plan().isStop(token)) {
            return new Outcome.Stopped(token);
        }
        if (sequence.constraint().isCompleteAfter(sequence.ids(), sequence.length())) {
            return new Outcome.Completed();
        }
        return sequence.length() == sequence.maxLength() ? new Outcome.LengthReached() : null;
    }

    private void charge(Sequence sequence, int computed, int appended) {
        long read = (long) sequence.chargeUpTo(computed) * ServiceCounters.READ_WEIGHT;
        counters.of(sequence.scheduling().key()).served += read + (long) appended * ServiceCounters.WRITE_WEIGHT;
    }

    private void end(Sequence sequence, Outcome outcome) {
        switch (sequence.state()) {
            case Pending pending -> {
                queue.remove(pending);
                ended.add(pending.finish(outcome));
                counters.leave(
                        sequence.scheduling().key(), sequence.scheduling().isBackground());
            }
            case Running advancing -> {
                running.remove(advancing);
                boolean isHeld = isPlannedAhead && ahead.contains(advancing);
                ended.add(isHeld ? advancing.finishAhead(outcome) : advancing.finish(outcome));
                counters.leave(
                        sequence.scheduling().key(), sequence.scheduling().isBackground());
            }
            case Finished finished -> {}
        }
    }

    /** Hands over the sequences that ended since the last call, in the order in which they ended, each once. */
    public void drainEnded(Consumer<Finished> consumer) {
        for (int i = 0; i < ended.size(); i++) {
            consumer.accept(ended.get(i));
        }
        ended.clear();
    }

    /** Recounts all pages; throws where a count is wrong. */
    public void checkIntegrity() {
        cache.checkIntegrity();
    }
}
