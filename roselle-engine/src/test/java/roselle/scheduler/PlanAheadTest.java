package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static roselle.scheduler.SmallRequests.END;
import static roselle.scheduler.SmallRequests.PAGE_TOKENS;
import static roselle.scheduler.SmallRequests.cache;
import static roselle.scheduler.SmallRequests.waiting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.api.FailureKind;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.Waiting;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixScope;

/** Steps that are planned while the one before them is under way. */
final class PlanAheadTest {
    private static final int PAGES = 16;

    private final List<Finished> ended = new ArrayList<>();
    private PageCache cache = cache(PAGES);
    private Scheduler scheduler = scheduler(4);
    private long nextId;

    private Scheduler scheduler(int sequences) {
        return new Scheduler(new SchedulerLimits(16, 8, sequences, 4, 8, 64), cache);
    }

    @AfterEach
    void recount() {
        scheduler.checkIntegrity();
    }

    private Sequence submit(int prompt, int answer) {
        return submit(prompt, answer, Scheduling.NO_DEADLINE);
    }

    private Sequence submit(int prompt, int answer, long deadline) {
        var scheduling = new Scheduling(PrefixScope.SHARED, 0, "", nextId, deadline);
        Waiting waiting = waiting(nextId++, prompt, answer, scheduling);
        scheduler.submit(waiting);
        return waiting.sequence();
    }

    /** Plans ahead of a step whose tokens the device samples. */
    private Batch planAhead(long now) {
        return planAhead(now, scheduler.stepUnderWay().size());
    }

    /** Plans ahead of a step of which the device samples the first entries' tokens alone. */
    private Batch planAhead(long now, int sampledOnDevice) {
        Batch underWay = scheduler.stepUnderWay();
        for (int entry = 0; entry < sampledOnDevice; entry++) {
            if (underWay.sampledRows(entry) == 1) {
                underWay.recordSampledOnDevice(entry);
            }
        }
        return scheduler.planAhead(now);
    }

    /** Gives each entry of the step under way its token. */
    private void commit(int... tokens) {
        Batch batch = scheduler.stepUnderWay();
        var result = new StepResult(4, 4);
        for (int entry = 0; entry < batch.size(); entry++) {
            result.beginEntry();
            if (!batch.isDropped(entry) && batch.sampledRows(entry) > 0) {
                result.append(tokens[entry]);
            }
        }
        scheduler.commit(result);
        scheduler.drainEnded(ended::add);
    }

    private static List<Sequence> sequences(Batch batch) {
        var all = new ArrayList<Sequence>();
        for (int entry = 0; entry < batch.size(); entry++) {
            all.add(batch.sequence(entry));
        }
        return all;
    }

    @Test
    void eachRowTakesTheTokenThatIsBeingSampled() {
        submit(3, 10);
        submit(5, 10);
        scheduler.plan(0);
        Batch ahead = planAhead(0);
        var inputs = new StepInputs(new StepLimits(16, 4, 4, 64, PAGE_TOKENS), 1);
        ahead.fill(inputs);
        assertThat(inputs.takesSampled).isTrue();
        assertThat(inputs.rows).isEqualTo(2);
        assertThat(inputs.outputs).isEqualTo(2);
        assertThat(Arrays.copyOf(inputs.sampledRow, 2)).containsExactly(0, 1);
        assertThat(Arrays.copyOf(inputs.positions, 2)).containsExactly(3, 5);
        assertThat(Arrays.copyOf(inputs.contextLength, 2)).containsExactly(3, 5);
        assertThat(inputs.pageTable[0][inputs.maxPages + 1]).isNotNegative();
        assertThat(ahead.endPosition(1)).isEqualTo(6);
        commit(1, 1);
        assertThat(scheduler.stepUnderWay()).isSameAs(ahead);
        ahead = planAhead(0);
        ahead.fill(inputs);
        assertThat(Arrays.copyOf(inputs.positions, 2)).containsExactly(4, 6);
        commit(1, 1);
        commit(1, 1);
        scheduler.plan(0).fill(inputs);
        assertThat(inputs.takesSampled).isFalse();
        assertThat(Arrays.copyOf(inputs.positions, 2)).containsExactly(5, 7);
        assertThat(Arrays.copyOf(inputs.tokenIds, 2)).containsExactly(1, 1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aSequenceThatStopsIsToldAtOnceAndKeepsItsPagesUntilTheStepAheadHasWrittenToThem() {
        Sequence stopping = submit(3, 10);
        Sequence other = submit(5, 10);
        scheduler.plan(0);
        Batch ahead = planAhead(0);
        assertThat(sequences(ahead)).containsExactly(stopping, other);
        commit(END, 1);
        assertThat(ended).singleElement().satisfies(finished -> {
            assertThat(finished.sequence()).isSameAs(stopping);
            assertThat(finished.outcome()).isEqualTo(new Outcome.Stopped(END));
        });
        assertThat(scheduler.running()).isEqualTo(1);
        assertThat(ahead.isDropped(0)).isTrue();
        assertThat(ahead.isDropped(1)).isFalse();
        int held = cache.available(0);
        Batch next = planAhead(0);
        assertThat(sequences(next)).containsExactly(other);
        var inputs = new StepInputs(new StepLimits(16, 4, 4, 64, PAGE_TOKENS), 1);
        next.fill(inputs);
        assertThat(inputs.sampledRow[0]).as("the row of what was not dropped").isEqualTo(1);
        commit(0, 1);
        assertThat(ahead.appended(0)).isZero();
        assertThat(ahead.appended(1)).isEqualTo(1);
        assertThat(ahead.dropped()).isEqualTo(1);
        assertThat(cache.available(0)).isGreaterThan(held);
        assertThat(stopping.generated()).isEqualTo(1);
        assertThat(other.generated()).isEqualTo(2);
        scheduler.failAll(FailureKind.INTERNAL, "end");
        assertThat(cache.available(0)).isEqualTo(PAGES);
    }

    @Test
    void aLostDeviceGivesBackWhatWasHeldForTheStepAhead() {
        submit(3, 10);
        scheduler.plan(0);
        planAhead(0);
        commit(END);
        assertThat(scheduler.isIdle()).isTrue();
        assertThat(scheduler.isStepUnderWay()).isTrue();
        assertThat(cache.available(0)).isLessThan(PAGES);
        scheduler.failAll(FailureKind.INTERNAL, "the device is gone");
        assertThat(cache.available(0)).isEqualTo(PAGES);
        assertThat(scheduler.isStepUnderWay()).isFalse();
    }

    @Test
    void whoIsKnownToEndHasNoRow() {
        Sequence last = submit(3, 1);
        Sequence cancelled = submit(3, 10);
        Sequence other = submit(3, 10);
        scheduler.plan(0);
        scheduler.cancel(cancelled);
        assertThat(sequences(planAhead(0))).containsExactly(other);
        commit(1, 1, 1);
        assertThat(ended).extracting(Finished::sequence).containsExactlyInAnyOrder(last, cancelled);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aCancellationAfterTheLaunchDropsTheRow() {
        Sequence cancelled = submit(3, 10);
        scheduler.plan(0);
        Batch ahead = planAhead(0);
        scheduler.cancel(cancelled);
        commit(1);
        assertThat(ended).singleElement().extracting(Finished::outcome).isEqualTo(new Outcome.Cancelled());
        assertThat(ahead.isDropped(0)).isTrue();
        assertThat(planAhead(0).isEmpty()).isTrue();
        commit();
        assertThat(cancelled.generated()).isEqualTo(1);
        assertThat(cache.available(0)).isEqualTo(PAGES);
        assertThat(scheduler.plan(0).isEmpty()).isTrue();
    }

    @Test
    void theNextChunkOfAPromptFollowsTheOneUnderWay() {
        Sequence prompt = submit(20, 10); // chunks are of 8
        scheduler.plan(0);
        Batch ahead = planAhead(0);
        assertThat(ahead.rows(0)).isEqualTo(8);
        assertThat(ahead.sampledRows(0)).isZero();
        var inputs = new StepInputs(new StepLimits(16, 4, 4, 64, PAGE_TOKENS), 1);
        ahead.fill(inputs);
        assertThat(inputs.takesSampled).isFalse();
        assertThat(Arrays.copyOf(inputs.positions, 8)).containsExactly(8, 9, 10, 11, 12, 13, 14, 15);
        assertThat(inputs.contextLength[0]).isEqualTo(8);
        commit();
        ahead = planAhead(0);
        assertThat(ahead.rows(0)).as("the rest").isEqualTo(4);
        assertThat(ahead.sampledRows(0)).isEqualTo(1);
        assertThat(ahead.outputs(0)).isEqualTo(1);
        assertThat(ahead.endPosition(0)).isEqualTo(20);
        commit(0);
        ahead = planAhead(0);
        assertThat(ahead.takesSampled(0)).isTrue();
        commit(1);
        assertThat(prompt.generated()).isEqualTo(1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aNewcomerStartsBesideRowsWhoseTokensAreBeingSampled() {
        Sequence first = submit(3, 10);
        scheduler.plan(0);
        Sequence newcomer = submit(5, 10);
        Batch ahead = planAhead(0);
        assertThat(sequences(ahead)).containsExactly(first, newcomer);
        assertThat(ahead.takesSampled(0)).isTrue();
        assertThat(ahead.takesSampled(1)).isFalse();
        assertThat(ahead.rows(1)).isEqualTo(5);
        commit(1);
        commit(1, 1);
        assertThat(first.generated()).isEqualTo(2);
        assertThat(newcomer.generated()).isEqualTo(1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aNewcomerIsCancelledWhileItsFirstStepIsUnderWay() {
        submit(3, 10);
        scheduler.plan(0);
        Sequence newcomer = submit(5, 10);
        Batch ahead = planAhead(0);
        scheduler.cancel(newcomer);
        commit(1);
        assertThat(ended).singleElement().extracting(Finished::sequence).isSameAs(newcomer);
        assertThat(ahead.isDropped(1)).isTrue();
        int held = cache.available(0);
        commit(1, 0);
        assertThat(ahead.dropped()).isEqualTo(1);
        assertThat(cache.available(0)).isGreaterThan(held);
        scheduler.failAll(FailureKind.INTERNAL, "end");
        assertThat(cache.available(0)).isEqualTo(PAGES);
    }

    @Test
    void aPlaceThatIsAboutToBeFreeIsTakenOneStepLater() {
        scheduler = scheduler(2);
        Sequence staying = submit(3, 10);
        submit(3, 1);
        scheduler.plan(0);
        Sequence newcomer = submit(3, 10);
        assertThat(sequences(planAhead(0))).containsExactly(staying);
        commit(1, 1);
        assertThat(sequences(planAhead(0))).containsExactly(staying, newcomer);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void aRowThatTheHostSamplesSitsOutWithoutStoppingTheOthers() {
        Sequence others = submit(3, 10);
        Sequence hosts = submit(3, 10);
        scheduler.plan(0);
        assertThat(sequences(planAhead(0, 1))).containsExactly(others);
        commit(1, 2);
        assertThat(hosts.generated()).isEqualTo(1);
        Batch ahead = planAhead(0, 1);
        assertThat(sequences(ahead)).containsExactly(others, hosts);
        assertThat(ahead.takesSampled(1)).as("its token is known by now").isFalse();
        var inputs = new StepInputs(new StepLimits(16, 4, 4, 64, PAGE_TOKENS), 1);
        ahead.fill(inputs);
        assertThat(inputs.tokenIds[1]).isEqualTo(2);
        assertThat(Arrays.copyOf(inputs.positions, 2)).containsExactly(4, 3);
        commit(1);
        assertThat(sequences(planAhead(0, 1))).containsExactly(others);
        commit(1, 2);
        assertThat(others.generated()).isEqualTo(3);
        assertThat(hosts.generated()).isEqualTo(2);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void nothingIsPlannedAheadOfSomeoneOfHigherPriorityWhoNeedsAPlace() {
        scheduler = scheduler(1);
        Sequence low = submit(3, 10);
        scheduler.plan(0);
        var scheduling = new Scheduling(PrefixScope.SHARED, 1, "", nextId, Scheduling.NO_DEADLINE);
        Waiting high = waiting(nextId++, 3, 10, scheduling);
        scheduler.submit(high);
        assertThat(planAhead(0).isEmpty()).isTrue();
        commit(1);
        assertThat(sequences(scheduler.plan(0))).containsExactly(high.sequence());
        assertThat(low.preemptions()).isEqualTo(1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void nothingIsPlannedAheadOfADeadline() {
        submit(3, 10, 5);
        scheduler.plan(0);
        assertThat(planAhead(4).size()).isEqualTo(1);
        commit(1);
        assertThat(planAhead(5).isEmpty()).isTrue();
        commit(1);
        assertThat(scheduler.plan(6).isEmpty()).isTrue();
        scheduler.drainEnded(ended::add);
        assertThat(ended).singleElement().extracting(Finished::outcome).isInstanceOf(Outcome.Failed.class);
    }

    @Test
    void nothingIsPlannedAheadWherePagesWouldHaveToBeTaken() {
        cache = cache(5);
        scheduler = scheduler(2);
        Sequence first = submit(7, 8);
        Sequence second = submit(8, 7);
        scheduler.plan(0);
        assertThat(sequences(planAhead(0)))
                .as("the last page is for the second's ninth token")
                .containsExactly(first, second);
        commit(1, 1);
        assertThat(planAhead(0).isEmpty()).as("the first has none for its own").isTrue();
        commit(1, 1);
        assertThat(sequences(scheduler.plan(0))).containsExactly(first);
        assertThat(second.preemptions()).isEqualTo(1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void whoRanksLastWaitsForAPageInPlace() {
        cache = cache(5);
        scheduler = scheduler(2);
        Sequence first = submit(7, 8);
        submit(7, 8);
        scheduler.plan(0);
        assertThat(planAhead(0).size()).as("the pages' last tokens").isEqualTo(2);
        commit(1, 1);
        assertThat(sequences(planAhead(0))).as("the other waits").containsExactly(first);
        commit(1, 1);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }

    @Test
    void oneStepAheadIsAllThereIs() {
        assertThatThrownBy(() -> scheduler.planAhead(0)).isInstanceOf(IllegalStateException.class);
        submit(3, 10);
        scheduler.plan(0);
        planAhead(0);
        assertThatThrownBy(() -> scheduler.planAhead(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> scheduler.plan(0)).isInstanceOf(IllegalStateException.class);
        scheduler.failAll(FailureKind.INTERNAL, "end");
    }
}
