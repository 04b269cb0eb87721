package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.Waiting;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixScope;

/**
 * Greedy keys send whatever they like, in lists of any size, of any length and priority, each as much as the queue takes; and a key
 * that has nothing in the engine sends one request. Its first token comes within a number of steps that depends on the number of keys
 * and on its own prompt, and on nothing that the others do.
 */
final class StarvationTest {
    private static final int SCHEDULES = 1_500;
    private static final long FIRST_SEED = 20_261_123;
    private static final int CONTEXT = 400;

    @Test
    void anIdleKeyWaitsForABoundedNumberOfSteps() {
        long waited = 0;
        int preempted = 0;
        for (int i = 0; i < SCHEDULES; i++) {
            var schedule = new Schedule(FIRST_SEED + i);
            waited += schedule.run();
            preempted += schedule.preempted;
        }
        assertThat(waited).as("the schedules make it wait at all").isGreaterThan(2L * SCHEDULES);
        assertThat(preempted).as("others give way").isGreaterThan(SCHEDULES / 10);
    }

    private static final class Schedule {
        private final long seed;
        private final SplittableRandom random;
        private final SchedulerLimits limits;
        private final PageCache cache;
        private final Scheduler scheduler;
        private final int keys; // the idle one among them
        private final boolean plansAhead;
        private final int[] style;
        private final Map<String, Integer> inside = new HashMap<>();
        private final List<Finished> ended = new ArrayList<>();
        private final int modestPrompt;
        private long nextId;
        private int preempted;

        Schedule(long seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
            keys = 2 + random.nextInt(4);
            int sequences = keys + random.nextInt(8);
            modestPrompt = 1 + random.nextInt(40);
            int stepTokens = sequences + random.nextInt(random.nextBoolean() ? 4 : 40);
            limits = new SchedulerLimits(
                    stepTokens, 1 + random.nextInt(stepTokens), sequences, sequences, 60 * keys, CONTEXT);
            int part = (modestPrompt + 1) / SmallRequests.PAGE_TOKENS + 2 + sequences;
            cache = SmallRequests.cache(
                    Math.max(keys * part, CONTEXT / SmallRequests.PAGE_TOKENS) + random.nextInt(200));
            scheduler = new Scheduler(limits, cache);
            plansAhead = random.nextBoolean();
            style = random.ints(keys, 0, 4).toArray();
        }

        /** Returns how many steps the idle key waited. */
        int run() {
            int before = 20 + random.nextInt(100);
            for (int step = 0; step < before; step++) {
                flood();
                step();
            }
            Sequence modest = submit("modest", modestPrompt, 1 + random.nextInt(10), -1000);
            int waited = 0;
            while (modest.generated() == 0) {
                flood();
                step();
                waited++;
                assertThat(waited)
                        .as(
                                "seed %d: steps until the first token, with %d keys and %d tokens",
                                seed, keys, modestPrompt)
                        .isLessThanOrEqualTo(bound());
            }
            scheduler.checkIntegrity();
            preempted = (int) scheduler.totals().preemptions();
            return waited;
        }

        /**
         * One step for each key that may come first in the queue, and one for each part of the prompt of each key in turn; twice, since
         * a step that is planned ahead takes nobody's place.
         */
        private int bound() {
            int rows = Math.max(1, Math.min(limits.chunkTokens(), limits.stepTokens() - limits.maxSequences()));
            int parts = (modestPrompt + rows - 1) / rows;
            return 2 * (keys + 2 + keys * parts);
        }

        private void flood() {
            for (int key = 0; key < keys - 1; key++) {
                String name = "greedy" + key;
                switch (style[key]) {
                    case 0 -> fill(name, 50, 1 + random.nextInt(CONTEXT - 60), 50, 1000);
                    case 1 -> fill(name, 1 + random.nextInt(50), 1 + random.nextInt(20), 1 + random.nextInt(300), 0);
                    case 2 -> fill(name, 1, 1 + random.nextInt(60), 1, random.nextInt(-1000, 1001));
                    default -> fill(name, 30, CONTEXT - 20, 10, random.nextInt(-1000, 1001));
                }
            }
        }

        /** Lets a key have so many requests in the engine. */
        private void fill(String key, int count, int prompt, int answer, int priority) {
            while (inside.getOrDefault(key, 0) < count) {
                submit(key, prompt, answer, priority);
            }
        }

        private Sequence submit(String key, int prompt, int answer, int priority) {
            var scheduling =
                    new Scheduling(new PrefixScope(key, "", ""), priority, key, nextId, Scheduling.NO_DEADLINE);
            Waiting waiting = SmallRequests.waiting(nextId++, prompt, answer, scheduling);
            try {
                scheduler.submit(waiting);
            } catch (CapacityException full) {
                throw new AssertionError("seed " + seed + ": " + full.getMessage(), full);
            }
            inside.merge(key, 1, Integer::sum);
            return waiting.sequence();
        }

        private void step() {
            Batch batch = scheduler.isStepUnderWay() ? scheduler.stepUnderWay() : scheduler.plan(0);
            if (plansAhead && random.nextInt(8) != 0) {
                device(batch);
                device(scheduler.planAhead(0));
            }
            var result = new StepResult(limits.maxSequences(), limits.stepOutputs());
            for (int entry = 0; entry < batch.size(); entry++) {
                result.beginEntry();
                if (!batch.isDropped(entry) && batch.sampledRows(entry) > 0) {
                    result.append(1);
                }
            }
            scheduler.commit(result);
            scheduler.drainEnded(ended::add);
            for (Finished each : ended) {
                inside.merge(each.sequence().scheduling().key(), -1, Integer::sum);
            }
            ended.clear();
        }

        private static void device(Batch batch) {
            for (int entry = 0; entry < batch.size(); entry++) {
                if (batch.sampledRows(entry) > 0) {
                    batch.recordSampledOnDevice(entry);
                }
            }
        }
    }
}
