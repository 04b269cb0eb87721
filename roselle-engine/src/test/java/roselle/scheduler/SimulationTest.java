package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Thousands of seeded schedules with faults; a failing one is replayed by its seed. */
final class SimulationTest {
    private static final int SCHEDULES = 10_000;
    private static final long FIRST_SEED = 20_261_101;

    @Test
    void everyInvariantHoldsAfterEveryStepOfTenThousandSchedules() {
        long steps = 0;
        long cachedTokens = 0;
        long preemptions = 0;
        long copies = 0;
        long stepsAhead = 0;
        long droppedRows = 0;
        long takenAhead = 0;
        long chunksAhead = 0;
        long newcomersAhead = 0;
        long leftOut = 0;
        long forced = 0;
        long lentPages = 0;
        for (int i = 0; i < SCHEDULES; i++) {
            var simulation = new Simulation(FIRST_SEED + i, Sabotage.NONE);
            run(simulation, FIRST_SEED + i);
            steps += simulation.steps();
            cachedTokens += simulation.cachedTokens();
            preemptions += simulation.preemptions();
            copies += simulation.copies();
            stepsAhead += simulation.stepsAhead();
            droppedRows += simulation.droppedRows();
            takenAhead += simulation.takenAhead();
            chunksAhead += simulation.chunksAhead();
            newcomersAhead += simulation.newcomersAhead();
            leftOut += simulation.leftOut();
            forced += simulation.forced();
            lentPages += simulation.lentPages();
        }
        System.out.printf(
                "schedules=%d steps=%d cachedTokens=%d preemptions=%d copies=%d stepsAhead=%d droppedRows=%d%n",
                SCHEDULES, steps, cachedTokens, preemptions, copies, stepsAhead, droppedRows);
        System.out.printf(
                "ahead: taken=%d chunks=%d newcomers=%d without the first=%d; forced tokens=%d%n",
                takenAhead, chunksAhead, newcomersAhead, leftOut, forced);
        // The schedules are worth their time only if they meet what they are for.
        assertThat(steps).isGreaterThan(20L * SCHEDULES);
        assertThat(cachedTokens).isGreaterThan(5L * SCHEDULES);
        assertThat(preemptions).isGreaterThan(SCHEDULES);
        assertThat(copies).isGreaterThan(SCHEDULES);
        assertThat(stepsAhead).isGreaterThan(2L * SCHEDULES);
        assertThat(droppedRows).isGreaterThan(SCHEDULES / 10);
        assertThat(takenAhead).isGreaterThan(5L * SCHEDULES);
        assertThat(chunksAhead).isGreaterThan(SCHEDULES);
        assertThat(newcomersAhead).isGreaterThan(SCHEDULES / 2);
        assertThat(leftOut).isGreaterThan(SCHEDULES / 10);
        assertThat(forced).isGreaterThan(5L * SCHEDULES);
        assertThat(lentPages).isGreaterThan(SCHEDULES);
    }

    @Test
    void theSameSeedReplaysTheSameSchedule() {
        for (int i = 0; i < 300; i++) {
            long seed = FIRST_SEED + i;
            long first = new Simulation(seed, Sabotage.NONE).run();
            assertThat(new Simulation(seed, Sabotage.NONE).run())
                    .as("seed %d", seed)
                    .isEqualTo(first);
        }
        assertThat(new Simulation(FIRST_SEED, Sabotage.NONE).run())
                .isNotEqualTo(new Simulation(FIRST_SEED + 1, Sabotage.NONE).run());
    }

    private static void run(Simulation simulation, long seed) {
        try {
            simulation.run();
        } catch (RuntimeException | AssertionError failure) {
            throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
        }
    }
}
