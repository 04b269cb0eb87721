package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static roselle.scheduler.SmallRequests.END;
import static roselle.scheduler.SmallRequests.cache;
import static roselle.scheduler.SmallRequests.waiting;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.FailureKind;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.Preempted;
import roselle.batch.Running;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.Waiting;
import roselle.kvcache.PrefixScope;

final class SchedulerTest {
    private final List<Finished> ended = new ArrayList<>();
    private Scheduler scheduler = scheduler(new SchedulerLimits(16, 8, 4, 4, 8, 64), 16);
    private long nextId;

    private static Scheduler scheduler(SchedulerLimits limits, int pages) {
        return new Scheduler(limits, cache(pages));
    }

    @AfterEach
    void recount() {
        scheduler.checkIntegrity();
    }

    private Sequence submit(int prompt, int answer, int priority, String key) {
        return submit(
                prompt, answer, new Scheduling(PrefixScope.SHARED, priority, key, nextId, Scheduling.NO_DEADLINE));
    }

    private Sequence submit(int prompt, int answer, Scheduling scheduling) {
        Waiting waiting = waiting(nextId++, prompt, answer, scheduling);
        scheduler.submit(waiting);
        return waiting.sequence();
    }

    private Batch step(int token) {
        Batch batch = scheduler.plan(0);
        var result = new StepResult(8, 64);
        for (int entry = 0; entry < batch.size(); entry++) {
            result.beginEntry();
            if (batch.sampledRows(entry) > 0) {
                result.append(token);
            }
        }
        if (!batch.isEmpty()) {
            scheduler.commit(result);
        }
        scheduler.drainEnded(ended::add);
        return batch;
    }

    private static List<Long> entries(Batch batch) {
        List<Long> all = new ArrayList<>();
        for (int entry = 0; entry < batch.size(); entry++) {
            all.add(batch.sequence(entry).id());
        }
        return all;
    }

    @Test
    void generatingSequencesComeBeforeChunksOfPrompts() {
        Sequence first = submit(4, 20, 0, "");
        step(1);
        submit(30, 4, 5, "");
        Batch batch = step(1);
        assertThat(entries(batch)).containsExactly(first.id(), 1L);
        assertThat(batch.rows(0)).isEqualTo(1);
        assertThat(batch.rows(1)).as("a chunk").isEqualTo(8);
        assertThat(batch.outputs(1)).as("within a prompt").isZero();
    }

    @Test
    void theTokenBudgetIsSharedByRank() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 4, 4, 8, 64), 40);
        submit(30, 4, 0, "a");
        submit(30, 4, 0, "b");
        submit(30, 4, 0, "c");
        Batch batch = scheduler.plan(0);
        assertThat(batch.totalRows()).isEqualTo(16);
        assertThat(entries(batch)).containsExactly(0L, 1L);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aHigherPriorityGoesFirstAndTakesThePlaceOfALower() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 1, 1, 8, 64), 16);
        Sequence low = submit(4, 20, 0, "");
        step(1);
        Sequence high = submit(4, 3, 7, "");
        Batch batch = step(1);
        assertThat(entries(batch)).containsExactly(high.id());
        assertThat(low.state()).isInstanceOf(Preempted.class);
        step(1);
        step(1);
        assertThat(high.state()).isInstanceOf(Finished.class);
        assertThat(low.state()).isInstanceOf(Preempted.class);
        step(1);
        assertThat(low.state()).isInstanceOf(Running.class);
    }

    @Test
    void preemptsTheYoungestOfTheLowestPriorityWhenPagesRunOut() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 3, 3, 8, 64), 6);
        Sequence first = submit(3, 20, 1, "");
        Sequence second = submit(3, 20, 0, "");
        step(1);
        assertThat(second.state()).isInstanceOf(Running.class);
        while (second.state() instanceof Running) {
            step(1);
            assertThat(first.state()).isInstanceOf(Running.class);
        }
        assertThat(second.state()).isInstanceOf(Preempted.class);
        while (!scheduler.isIdle()) {
            step(1);
        }
        assertThat(ended).hasSize(2);
        assertThat(second.generated()).isEqualTo(20);
        assertThat(second.preemptions()).isPositive();
    }

    @Test
    void preemptsTheYoungestOfEqualPriorityWhenPagesRunOut() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 3, 3, 8, 64), 9);
        Sequence oldest = submit(3, 24, 0, "c");
        Sequence middle = submit(3, 24, 0, "b");
        Sequence youngest = submit(3, 24, 0, "a");
        while (scheduler.preempted() == 0) {
            step(1);
        }
        assertThat(youngest.state()).isInstanceOf(Preempted.class);
        assertThat(middle.state()).isInstanceOf(Running.class);
        while (!scheduler.isIdle()) {
            step(1);
        }
        assertThat(oldest.preemptions()).isZero();
        assertThat(scheduler.totals().preemptions())
                .isEqualTo(middle.preemptions() + youngest.preemptions())
                .isPositive();
        assertThat(ended).extracting(each -> each.sequence().generated()).containsOnly(24);
    }

    @Test
    void ofKeysServedAlikeTheEarlierArrivalGoesFirstWhateverItsPriority() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 1, 1, 8, 64), 16);
        submit(4, 2, new Scheduling(PrefixScope.SHARED, 3, "a", 200, Scheduling.NO_DEADLINE));
        submit(4, 2, new Scheduling(PrefixScope.SHARED, 3, "b", 100, Scheduling.NO_DEADLINE));
        submit(4, 2, new Scheduling(PrefixScope.SHARED, 4, "c", 300, Scheduling.NO_DEADLINE));
        while (!scheduler.isIdle()) {
            step(1);
        }
        assertThat(ended).extracting(each -> each.sequence().id()).containsExactly(1L, 0L, 2L);
    }

    @Test
    void ofThoseThatWaitAlikeWhoIsDueEarliestGoesFirstAndNobodyIsPassedForEver() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 1, 1, 8, 64), 16);
        long usual = Scheduling.USUAL_PATIENCE_NANOS;
        submit(4, 2, due(0, usual));
        submit(4, 2, due(1, 500));
        submit(4, 2, due(2, 100));
        submit(4, 2, due(usual + 1, 500));
        submit(4, 2, due(3, usual));
        while (!scheduler.isIdle()) {
            step(1);
        }
        assertThat(ended).extracting(each -> each.sequence().id()).containsExactly(2L, 1L, 0L, 4L, 3L);
    }

    private static Scheduling due(long arrival, long patience) {
        return new Scheduling(PrefixScope.SHARED, 0, "", arrival, Scheduling.NO_DEADLINE, arrival + patience);
    }

    @Test
    void aPriorityTakesNothingFromAnotherKey() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 2, 2, 64, 64), 16);
        Sequence modest = submit(4, 12, 0, "modest");
        for (int i = 0; i < 10; i++) {
            submit(4, 4, 1000, "greedy");
        }
        while (!(modest.state() instanceof Finished)) {
            step(1);
        }
        assertThat(modest.preemptions()).isZero();
        assertThat(ended.stream().map(each -> each.sequence().id()).toList().indexOf(modest.id()))
                .as("requests that ended before")
                .isLessThanOrEqualTo(3);
    }

    @Test
    void aKeyThatComesWhileAnotherHasAllPlacesIsGivenOneAtOnce() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 4, 4, 64, 64), 64);
        for (int i = 0; i < 20; i++) {
            submit(2, 40, 1000 - i, "greedy");
        }
        step(1);
        step(1);
        Sequence modest = submit(8, 4, -1000, "modest");
        Batch next = step(1);
        assertThat(entries(next)).contains(modest.id());
        assertThat(next.size()).isEqualTo(4);
        while (!(modest.state() instanceof Finished)) {
            step(1);
        }
        assertThat(modest.preemptions()).isZero();
    }

    @Test
    void aKeyThatComesWhileAnotherReadsLongPromptsIsReadInTurn() {
        scheduler = scheduler(new SchedulerLimits(8, 8, 4, 4, 64, 64), 64);
        for (int i = 0; i < 3; i++) {
            submit(60, 4, 0, "greedy");
        }
        step(1);
        Sequence modest = submit(8, 4, 0, "modest");
        for (int i = 0; i < 4; i++) {
            step(1);
        }
        assertThat(modest.generated()).as("tokens after four steps").isPositive();
    }

    @Test
    void aKeyThatComesWhileAnotherHasAllPagesIsGivenSome() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 4, 4, 64, 64), 16);
        Sequence large = submit(12, 50, 0, "greedy");
        while (large.length() < 52) {
            step(1);
        }
        Sequence modest = submit(16, 4, 0, "modest");
        for (int i = 0; i < 3; i++) {
            step(1);
        }
        assertThat(modest.generated()).as("tokens after three steps").isPositive();
        while (!scheduler.isIdle()) {
            step(1);
        }
        assertThat(large.generated()).isEqualTo(50);
    }

    @Test
    void whatAKeyOwesFromBeforeKeepsItAwayForAWhileAlone() {
        scheduler = scheduler(new SchedulerLimits(64, 64, 1, 1, 600, 64), 64);
        for (int i = 0; i < 500; i++) {
            submit(32, 16, 0, "early");
        }
        while (!scheduler.isIdle()) {
            step(1);
        }
        ended.clear();
        for (int i = 0; i < 500; i++) {
            submit(32, 16, 0, "late");
        }
        step(1);
        Sequence again = submit(32, 16, 0, "early");
        while (again.state() instanceof Waiting) {
            step(1);
        }
        assertThat(ended).as("requests of the other key before").hasSizeLessThanOrEqualTo(1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aPreemptedSequenceGoesOnBeforeThoseThatHaveNotStarted() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 1, 1, 8, 64), 16);
        Sequence first = submit(4, 20, 0, "");
        step(1);
        Sequence waiting = submit(4, 2, 0, "");
        Preemption.ofYoungest(scheduler);
        assertThat(scheduler.preempted()).isEqualTo(1);
        assertThat(scheduler.waiting()).isEqualTo(1);
        step(1);
        assertThat(first.state()).isInstanceOf(Running.class);
        assertThat(waiting.state()).isInstanceOf(Waiting.class);
    }

    @Test
    void admissionCannotDeadlockThoughEachSequenceMayNeedAllPages() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 8, 8, 16, 64), 8);
        for (int i = 0; i < 12; i++) {
            submit(1 + 2 * i, 32 - 1 - 2 * i, i % 3 - 1, "key " + i % 2);
        }
        int steps = 0;
        while (!scheduler.isIdle()) {
            assertThat(step(1).isEmpty()).as("step %d does something", steps).isFalse();
            assertThat(++steps).as("steps").isLessThan(5000);
        }
        assertThat(ended).hasSize(12).allMatch(each -> each.outcome() instanceof Outcome.LengthReached);
    }

    @Test
    void aLongPromptIsNotPassedByShortOnesBehindIt() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 4, 4, 64, 64), 8);
        submit(12, 20, 0, "");
        step(1);
        Sequence large = submit(28, 2, 0, "");
        for (int i = 0; i < 20; i++) {
            submit(1, 2, 0, "");
        }
        while (large.state() instanceof Waiting) {
            step(1);
            assertThat(ended).as("none of the short ones ended first").hasSizeLessThanOrEqualTo(1);
        }
    }

    @Test
    void keysOfEqualPriorityGetEqualShares() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 1, 1, 64, 64), 16);
        for (int i = 0; i < 10; i++) {
            submit(8, 2, 0, "greedy");
        }
        submit(8, 2, 0, "modest");
        submit(8, 2, 0, "modest");
        while (!scheduler.isIdle()) {
            step(1);
        }
        List<Long> order = ended.stream().map(each -> each.sequence().id()).toList();
        assertThat(order.indexOf(10L)).isLessThanOrEqualTo(2);
        assertThat(order.indexOf(11L)).isLessThanOrEqualTo(4);
    }

    @Test
    void aKeyCannotSaveUpWhileItIsAway() {
        scheduler = scheduler(new SchedulerLimits(16, 16, 1, 1, 64, 64), 16);
        for (int i = 0; i < 6; i++) {
            submit(8, 2, 0, "busy");
        }
        for (int i = 0; i < 8; i++) {
            step(1);
        }
        int before = ended.size();
        for (int i = 0; i < 4; i++) {
            submit(8, 2, 0, "late");
        }
        while (!scheduler.isIdle()) {
            step(1);
        }
        List<String> keys = ended.stream()
                .skip(before)
                .map(each -> each.sequence().scheduling().key())
                .toList();
        assertThat(keys.indexOf("busy"))
                .as("busy is not shut out until late has caught up")
                .isLessThan(3);
    }

    @Test
    void aRequestThatCannotEverRunIsRefusedWithBothNumbers() {
        assertThatThrownBy(() -> submit(60, 10, 0, ""))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("70")
                .hasMessageContaining("64 tokens of the context");
        scheduler = scheduler(new SchedulerLimits(16, 8, 4, 4, 8, 64), 5);
        assertThat(scheduler.longestSequence()).isEqualTo(20);
        assertThatThrownBy(() -> submit(18, 3, 0, ""))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("make 21")
                .hasMessageContaining("20 tokens that the KV cache");
    }

    @Test
    void aFullQueueRefusesWithBothNumbers() {
        for (int i = 0; i < 8; i++) {
            submit(4, 4, 0, "");
        }
        assertThatThrownBy(() -> submit(4, 4, 0, ""))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("8 requests wait of at most 8");
    }

    @Test
    void aDeadlineFailsTheWaitingAndTheRunning() {
        submit(4, 20, new Scheduling(PrefixScope.SHARED, 0, "", 0, 5_000_000));
        step(1);
        submit(4, 20, new Scheduling(PrefixScope.SHARED, 0, "", 0, 3_000_000));
        assertThat(scheduler.plan(6_000_000).isEmpty()).isTrue();
        scheduler.drainEnded(ended::add);
        assertThat(ended).hasSize(2);
        assertThat(ended)
                .allSatisfy(each -> assertThat(each.outcome())
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> assertThat(failed.kind()).isEqualTo(FailureKind.DEADLINE)));
        assertThat(scheduler.isIdle()).isTrue();
    }

    @Test
    void aCancelDuringAStepTakesEffectWhenItCommits() {
        Sequence sequence = submit(4, 20, 0, "");
        Batch batch = scheduler.plan(0);
        scheduler.cancel(sequence);
        assertThat(sequence.state()).isInstanceOf(Running.class);
        var result = new StepResult(4, 4);
        result.beginEntry();
        result.append(1);
        assertThat(batch.size()).isEqualTo(1);
        scheduler.commit(result);
        assertThat(sequence.state()).isInstanceOf(Finished.class);
        assertThat(scheduler.isIdle()).isTrue();
    }

    @Test
    void aStopTokenEndsASequence() {
        submit(4, 20, 0, "");
        step(1);
        step(END);
        assertThat(ended.getFirst().outcome()).isEqualTo(new Outcome.Stopped(END));
    }

    @Test
    void whatFollowsAStopTokenIsDropped() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 4, 10, 8, 64), 16);
        Sequence sequence = submit(4, 20, 0, "");
        step(1);
        ((Running) sequence.state()).propose(new int[] {END, 1}, 2);
        Batch batch = scheduler.plan(0);
        var result = new StepResult(4, 10);
        result.beginEntry();
        result.append(END);
        result.append(1);
        scheduler.commit(result);
        assertThat(batch.appended(0)).isEqualTo(1);
        assertThat(sequence.generated()).isEqualTo(2);
        assertThat(sequence.state()).isInstanceOf(Finished.class);
    }

    @Test
    void withoutSpareOutputsThereAreNoDrafts() {
        Sequence sequence = submit(4, 20, 0, "");
        step(1);
        ((Running) sequence.state()).propose(new int[] {1, 1, 1}, 3);
        assertThat(scheduler.plan(0).rows(0)).isEqualTo(1);
    }

    @Test
    void draftsAreCheckedInOneStep() {
        scheduler = scheduler(new SchedulerLimits(16, 8, 4, 10, 8, 64), 16);
        Sequence sequence = submit(4, 20, 0, "");
        step(1);
        ((Running) sequence.state()).propose(new int[] {5, 6, 7}, 3);
        Batch batch = scheduler.plan(0);
        assertThat(batch.rows(0)).isEqualTo(4);
        assertThat(batch.sampledRows(0)).isEqualTo(4);
        var inputs = new StepInputs(new StepLimits(16, 4, 10, 64, 4), 1);
        batch.fill(inputs);
        assertThat(Arrays.copyOf(inputs.tokenIds, 4)).containsExactly(1, 5, 6, 7);
        assertThat(Arrays.copyOf(inputs.positions, 4)).containsExactly(4, 5, 6, 7);
        assertThat(Arrays.copyOf(inputs.outputRow, 4)).containsExactly(0, 1, 2, 3);
        var result = new StepResult(4, 10);
        result.beginEntry();
        result.append(5); // accepted
        result.append(8); // instead of 6
        scheduler.commit(result);
        assertThat(sequence.generated()).isEqualTo(3);
        assertThat(((Running) sequence.state()).computed()).isEqualTo(6);
        assertThat(batch.appended(0)).isEqualTo(2);
    }

    @Test
    void aFailedEntryFailsItsRequestAlone() {
        submit(4, 2, 0, "");
        submit(4, 2, 0, "");
        Batch batch = scheduler.plan(0);
        assertThat(batch.size()).isEqualTo(2);
        var result = new StepResult(4, 4);
        result.beginEntry();
        result.fail(FailureKind.INTERNAL, "the model produced NaN at position 4");
        result.beginEntry();
        result.append(1);
        scheduler.commit(result);
        step(1);
        assertThat(ended).hasSize(2);
        assertThat(ended.getFirst().outcome())
                .isEqualTo(new Outcome.Failed(FailureKind.INTERNAL, "the model produced NaN at position 4"));
        assertThat(ended.getLast().outcome()).isEqualTo(new Outcome.LengthReached());
    }

    @Test
    void aTransitionTakenTwiceIsAnError() {
        Waiting waiting = waiting(0, 1, 3, new Scheduling(PrefixScope.SHARED, 0, "", 0, Scheduling.NO_DEADLINE));
        waiting.finish(new Outcome.Cancelled());
        assertThatThrownBy(() -> waiting.finish(new Outcome.Cancelled())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aDecodeStepAllocatesNextToNothing() {
        scheduler = scheduler(new SchedulerLimits(64, 64, 32, 32, 64, 4096), 9000);
        for (int i = 0; i < 32; i++) {
            submit(8, 1000, 0, "key" + i % 3);
        }
        var result = new StepResult(32, 32);
        var bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        int steps = 200; // the ids' first room of 256 tokens is not left
        for (int i = 0; i < steps; i++) {
            if (i == steps / 2) {
                before = bean.getCurrentThreadAllocatedBytes();
            }
            Batch batch = scheduler.plan(i);
            result.clear();
            for (int entry = 0; entry < batch.size(); entry++) {
                result.beginEntry();
                if (batch.sampledRows(entry) > 0) {
                    result.append(1);
                }
            }
            scheduler.commit(result);
        }
        long perToken = (bean.getCurrentThreadAllocatedBytes() - before) / (steps / 2 * 32L);
        assertThat(perToken).as("bytes per token").isLessThan(4);
    }
}
