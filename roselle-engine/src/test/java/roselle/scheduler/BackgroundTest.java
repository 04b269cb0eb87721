package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static roselle.scheduler.SmallRequests.cache;
import static roselle.scheduler.SmallRequests.waiting;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.api.SchedulingOptions;
import roselle.batch.Batch;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.Waiting;
import roselle.kvcache.PrefixScope;

/** What a batch has of a step while others are there, and when they have just been. */
final class BackgroundTest {
    private static final int MILLI = 1_000_000;

    private final Scheduler scheduler = new Scheduler(new SchedulerLimits(32, 16, 8, 8, 16, 64), cache(64));
    private long nextId;
    private long now;

    @AfterEach
    void recount() {
        scheduler.checkIntegrity();
    }

    private Sequence submit(int prompt, int answer, int priority, String key) {
        Waiting waiting = waiting(
                nextId++,
                prompt,
                answer,
                new Scheduling(PrefixScope.SHARED, priority, key, nextId, Scheduling.NO_DEADLINE));
        scheduler.submit(waiting);
        return waiting.sequence();
    }

    private void submitBatch(int rows) {
        for (int i = 0; i < rows; i++) {
            submit(4, 50, SchedulingOptions.BACKGROUND, "");
        }
    }

    /** A step that takes a millisecond for each row beyond {@code free} ones, and one. */
    private List<Long> step(int free) {
        Batch batch = scheduler.plan(now);
        List<Long> ids = new ArrayList<>();
        var result = new StepResult(8, 64);
        for (int entry = 0; entry < batch.size(); entry++) {
            ids.add(batch.sequence(entry).id());
            result.beginEntry();
            if (batch.sampledRows(entry) > 0) {
                result.append(7);
            }
        }
        if (!batch.isEmpty()) {
            long took = (1 + Math.max(0, batch.totalRows() - free)) * (long) MILLI;
            now += took;
            scheduler.stepTook(took);
            scheduler.commit(result);
        }
        scheduler.drainEnded(_ -> {});
        return ids;
    }

    @Test
    void hasAllRowsWhenNobodyElseIsThere() {
        submitBatch(6);
        step(0);
        assertThat(step(0)).hasSize(6);
    }

    @Test
    void hasNoRowsWhileItsKeyHasOthers() {
        submitBatch(6);
        step(0);
        Sequence other = submit(4, 3, 0, "");
        assertThat(step(0)).containsExactly(other.id());
        assertThat(step(0)).containsExactly(other.id());
        assertThat(step(0)).containsExactly(other.id());
        assertThat(step(0)).doesNotContain(other.id()).isNotEmpty();
    }

    @Test
    void hasARowNowAndThenWhereEachCostsTime() {
        assertThat(rowsBesideOthers(0, 3 * Background.TRIED)).isEqualTo(3);
    }

    @Test
    void hasTheRowsThatCostNothing() {
        rowsBesideOthers(5, 6 * Background.TRIED); // one at first, one more where it was fast enough
        assertThat(rowsBesideOthers(5, 16)).isBetween(2 * 14, 5 * 14);
    }

    /** What a batch of six has in some steps beside one other, who comes again and again. */
    private int rowsBesideOthers(int free, int steps) {
        int rows = 0;
        Sequence other = submit(4, 40, 0, "");
        submitBatch(6);
        for (int i = 0; i < steps; i++) {
            List<Long> ids = step(free);
            rows += ids.contains(other.id()) ? ids.size() - 1 : 0;
            if (!ids.contains(other.id()) || other.state() instanceof roselle.batch.Finished) {
                other = submit(4, 40, 0, "");
            }
        }
        return rows;
    }

    @Test
    void keepsItsKeysShareBesideOtherKeys() {
        submitBatch(2);
        step(0);
        submit(4, 30, 0, "another");
        assertThat(step(0)).hasSize(3);
        assertThat(step(0)).hasSize(3);
    }

    @Test
    void findsOutHowManyRowsTakeTwoStepsOfOthers() {
        submitBatch(7);
        step(3);
        submit(4, 20, 0, "");
        for (int i = 0; i < 20; i++) {
            step(3); // one row: a millisecond
        }
        List<Integer> rows = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            rows.add(step(3).size());
        }
        assertThat(rows.getFirst()).isEqualTo(1);
        assertThat(rows.subList(4, 12)).allMatch(size -> size >= 3 && size <= 5); // four take two milliseconds
        now += Background.WATCHFUL_NANOS;
        assertThat(step(3)).hasSize(7);
    }

    @Test
    void isNotPlannedAheadWhereOthersMayCome() {
        submitBatch(4);
        step(0);
        submit(4, 2, 0, "");
        step(0);
        step(0);
        Batch underWay = scheduler.plan(now);
        assertThat(underWay.isEmpty()).isFalse();
        assertThat(scheduler.planAhead(now).isEmpty()).isTrue();
        scheduler.failAll(roselle.api.FailureKind.INTERNAL, "the end");
    }

    /** One that needs all pages takes them from the batch, which goes on when it is done. */
    @Test
    void givesItsPagesToOthersAndEndsAllTheSame() {
        var small = new Scheduler(new SchedulerLimits(16, 8, 4, 4, 8, 64), cache(16));
        var ends = new ArrayList<Long>();
        for (int i = 0; i < 8; i++) {
            boolean isBatch = i % 2 == 0;
            small.submit(waiting(
                    i,
                    4,
                    40,
                    new Scheduling(
                            PrefixScope.SHARED,
                            isBatch ? SchedulingOptions.BACKGROUND : 0,
                            "",
                            i,
                            Scheduling.NO_DEADLINE)));
        }
        for (int steps = 0; steps < 2_000 && !small.isIdle(); steps++) {
            Batch batch = small.plan(steps);
            var result = new StepResult(8, 64);
            for (int entry = 0; entry < batch.size(); entry++) {
                result.beginEntry();
                if (batch.sampledRows(entry) > 0) {
                    result.append(7);
                }
            }
            small.commit(result);
            small.drainEnded(finished -> ends.add(finished.sequence().id()));
        }
        small.checkIntegrity();
        assertThat(ends).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(ends.subList(0, 4)).containsExactlyInAnyOrder(1L, 3L, 5L, 7L);
    }
}
