package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import roselle.backend.memory.KvGroup;
import roselle.batch.Batch;
import roselle.batch.Sequence;
import roselle.kvcache.CacheSaboteur;
import roselle.kvcache.PageCache;
import roselle.kvcache.PageLayout;
import roselle.kvcache.PrefixScope;
import roselle.kvcache.SequencePages;

/** Each planted bug must be seen by the simulation: a check that cannot fail checks nothing. */
final class SaboteurTest {
    private static final int SCHEDULES = 400;

    /** Something done once, to the first sequence of a step where it can be done. */
    private interface Fault {
        boolean plant(PageCache cache, SequencePages pages, Sequence sequence);
    }

    private static final class Once implements Sabotage {
        private final Fault fault;
        private final boolean audits;
        private boolean isDone;

        Once(Fault fault, boolean audits) {
            this.fault = fault;
            this.audits = audits;
        }

        @Override
        public void afterPlan(PageCache cache, Batch batch) {
            for (int entry = 0; !isDone && entry < batch.size(); entry++) {
                isDone = fault.plant(cache, batch.running(entry).pages(), batch.sequence(entry));
            }
        }

        @Override
        public boolean audits() {
            return audits;
        }
    }

    private static int caught(Supplier<Sabotage> sabotage) {
        int caught = 0;
        for (int i = 0; i < SCHEDULES; i++) {
            try {
                new Simulation(i, sabotage.get()).run();
            } catch (RuntimeException | AssertionError seen) {
                caught++;
            }
        }
        return caught;
    }

    private static int caught(Fault fault, boolean audits) {
        return caught(() -> new Once(fault, audits));
    }

    @Test
    void aForgottenUserOfASharedPageIsCaught() {
        Fault fault = (cache, pages, sequence) -> CacheSaboteur.loseUser(cache, pages);
        assertThat(caught(fault, true)).isGreaterThan(SCHEDULES / 2);
        assertThat(caught(fault, false)).as("without the audit").isPositive();
    }

    @Test
    void anEvictionUnderAUserIsCaught() {
        Fault fault = (cache, pages, sequence) -> CacheSaboteur.evictInUse(cache, pages);
        assertThat(caught(fault, true)).isGreaterThan(SCHEDULES / 2);
        assertThat(caught(fault, false)).as("without the audit").isPositive();
    }

    @Test
    void aPageFreedUnderItsOwnerIsCaught() {
        Fault fault = (cache, pages, sequence) -> CacheSaboteur.freeOwned(cache, pages);
        assertThat(caught(fault, true)).isGreaterThan(SCHEDULES / 2);
        assertThat(caught(fault, false)).as("without the audit").isPositive();
    }

    @Test
    void aLostLockIsCaught() {
        Fault fault = (cache, pages, sequence) -> CacheSaboteur.loseLock(cache, pages);
        assertThat(caught(fault, true)).isGreaterThan(SCHEDULES / 2);
    }

    @Test
    void aPageSharedBeforeItIsComputedIsCaught() {
        Fault fault = (cache, pages, sequence) ->
                CacheSaboteur.insertTooEarly(cache, pages, sequence.ids(), sequence.length());
        assertThat(caught(fault, true)).isPositive();
    }

    @Test
    void sharingAcrossSaltsIsCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public PrefixScope scope(PrefixScope scope) {
                        return PrefixScope.SHARED;
                    }
                }))
                .isPositive();
    }

    @Test
    void aForgottenCopyOfAPartialPageIsCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public boolean copies() {
                        return false;
                    }
                }))
                .isGreaterThan(SCHEDULES / 4);
    }

    @Test
    void aRowAheadOfATokenThatTheDeviceDoesNotHaveIsCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public boolean launchesHostRows() {
                        return true;
                    }
                }))
                .isGreaterThan(SCHEDULES / 8);
    }

    @Test
    void aRowThatIsNotComputedIsCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public boolean computes(int row, int rows) {
                        return rows < 3 || row != 1;
                    }
                }))
                .isGreaterThan(SCHEDULES / 2);
    }

    @Test
    void pagesFreedTooEarlyBehindAWindowAreCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public PageLayout layout(PageLayout layout) {
                        return withWindowsOneShorter(layout);
                    }
                }))
                .isGreaterThan(SCHEDULES / 4);
    }

    @Test
    void statesGivenUpTooEarlyAreCaught() {
        assertThat(caught(() -> new Sabotage() {
                    @Override
                    public PageLayout layout(PageLayout layout) {
                        return withStatesAsWindowsOfOne(layout);
                    }
                }))
                .isGreaterThan(SCHEDULES / 8);
    }

    private static PageLayout withStatesAsWindowsOfOne(PageLayout layout) {
        List<KvGroup> groups = layout.groups().stream()
                .map(group -> group.isState() ? new KvGroup(group.name(), 1, 1, 1, 1, 1) : group)
                .toList();
        return new PageLayout(groups, layout.pages(), layout.pageTokens());
    }

    private static PageLayout withWindowsOneShorter(PageLayout layout) {
        List<KvGroup> groups = new ArrayList<>();
        for (KvGroup group : layout.groups()) {
            int window = group.window() < 2 ? group.window() : group.window() - 1;
            groups.add(new KvGroup(group.name(), 1, 1, 1, group.valueSize(), window, group.stateSize()));
        }
        return new PageLayout(groups, layout.pages(), layout.pageTokens());
    }
}
