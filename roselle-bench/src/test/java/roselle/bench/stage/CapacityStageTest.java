package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.bench.backend.Sampling;
import roselle.bench.load.LoadOptions;
import roselle.bench.metric.ChunkTimes;
import roselle.bench.metric.Objective;
import roselle.bench.metric.Repeats;
import roselle.bench.metric.RequestSample;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.SyntheticTrace;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceEntry;

/**
 * Searches against a server whose capacity has a formula: one queue, one server, exponential service (M/M/1), in virtual
 * time.
 *
 * <p>There the time from arrival to answer is exponential with rate μ − λ, so its p99 is ln 100 / (μ − λ), and the highest
 * rate λ that keeps p99 ≤ T is μ − ln 100 / T.
 */
final class CapacityStageTest {
    private static final double SERVED_PER_SECOND = 10;
    private static final double LIMIT_SECONDS = 2;
    private static final double CAPACITY = SERVED_PER_SECOND - Math.log(100) / LIMIT_SECONDS;
    private static final double TOLERANCE = 0.01;

    @Test
    void findsACapacityNearTheOneThatTheFormulaTells() throws InterruptedException {
        assertThat(search(1, SERVED_PER_SECOND).mean()).isBetween(0.93 * CAPACITY, 1.07 * CAPACITY);
    }

    @Tag("long")
    @Test
    void findsTheCapacityThatTheFormulaTellsWithinItsConfidenceInterval() throws InterruptedException {
        int hits = 0;
        for (long seed = 1; seed <= 12; seed++) {
            Repeats found = search(seed, SERVED_PER_SECOND);
            System.out.printf("seed %d: %.3f ± %.3f, formula %.3f%n", seed, found.mean(), found.halfWidth(), CAPACITY);
            hits += contains(found) ? 1 : 0;
            assertThat(found.mean()).isBetween(0.93 * CAPACITY, 1.07 * CAPACITY);
        }

        // Of 12 intervals of 95 %, fewer than 10 hold the value with a probability of 2 % only.
        assertThat(hits).isGreaterThanOrEqualTo(10);
    }

    @Tag("long")
    @Test
    void findsAnotherCapacityForAServerThatIsATenthSlower() throws InterruptedException {
        for (long seed = 1; seed <= 4; seed++) {
            assertThat(contains(search(seed, 0.9 * SERVED_PER_SECOND))).isFalse();
        }
    }

    @Test
    void callsNoRateCarriedThatHasFailures() throws InterruptedException {
        CapacityStage stage = stage(1, 1);

        List<CapacitySearch.Result> results = stage.search((arrivals, _) -> failing(arrivals), _ -> {});

        assertThat(results).singleElement().satisfies(result -> {
            assertThat(result.carried()).isEmpty();
            assertThat(result.refused()).isPresent();
        });
    }

    /** Service of 3 s where 2 s are the limit: at 1/16 request/s hardly one meets another, and they break it all the same. */
    @Test
    void givesUpAnObjectiveThatNotEvenSingleRequestsKeep() throws InterruptedException {
        var rates = new ArrayList<Double>();

        CapacitySearch.Result result = stage(1, 1)
                .search((arrivals, _) -> constant(arrivals, 3), probe -> rates.add(probe.rate()))
                .getFirst();

        assertThat(result.ending()).isEqualTo(CapacitySearch.Ending.HOPELESS);
        assertThat(result.carried()).isEmpty();
        assertThat(rates).containsExactly(1.0, 0.5, 0.25, 0.125, 0.0625);
    }

    private static List<RequestSample> constant(Trace arrivals, double service) {
        var samples = new ArrayList<RequestSample>();
        double free = 0;
        for (TraceEntry entry : arrivals.entries()) {
            free = Math.max(free, entry.arrivalSeconds()) + service;
            samples.add(sample(samples.size(), nanos(entry.arrivalSeconds()), nanos(free), Optional.empty()));
        }
        return samples;
    }

    /** The carried rate is below the bound by up to the tolerance. */
    private static boolean contains(Repeats found) {
        return found.mean() - found.halfWidth() <= CAPACITY
                && CAPACITY <= (found.mean() + found.halfWidth()) * (1 + TOLERANCE);
    }

    private static Repeats search(long seed, double served) throws InterruptedException {
        List<CapacitySearch.Result> results =
                stage(seed, 5).search((arrivals, prompts) -> queue(arrivals, served, prompts), _ -> {});
        return Repeats.of(results.stream()
                .mapToDouble(result -> result.carried().orElseThrow())
                .toArray());
    }

    private static CapacityStage stage(long seed, int searches) {
        var plan = new OnlinePlan(
                SyntheticTrace.read("constant:rate=1,input=1,output=1", 1),
                List.of(1.0),
                1,
                PromptMode.INDEPENDENT,
                false,
                new Sampling(0, 1, 0, true),
                1_000_003 * seed,
                0,
                LoadOptions.DEFAULT,
                new Objective(1000 * LIMIT_SECONDS, 1000, 0));
        return new CapacityStage(
                plan,
                PromptSource.ofVocabulary(2),
                new CapacitySearch(1, TOLERANCE, 40),
                new CapacityStage.ProbeSize(1, 40_000),
                searches);
    }

    /** Each request is begun when it has arrived and the one before is done (Lindley's recursion). */
    private static List<RequestSample> queue(Trace arrivals, double served, long seed) {
        var random = new SplittableRandom(~seed);
        var samples = new ArrayList<RequestSample>();
        double free = 0;
        for (TraceEntry entry : arrivals.entries()) {
            double service = -Math.log(1 - random.nextDouble()) / served;
            free = Math.max(free, entry.arrivalSeconds()) + service;
            samples.add(sample(samples.size(), nanos(entry.arrivalSeconds()), nanos(free), Optional.empty()));
        }
        return samples;
    }

    private static List<RequestSample> failing(Trace arrivals) {
        var samples = new ArrayList<RequestSample>();
        for (TraceEntry entry : arrivals.entries()) {
            long at = nanos(entry.arrivalSeconds());
            Optional<String> failure = samples.isEmpty() ? Optional.of("it was refused") : Optional.empty();
            samples.add(sample(samples.size(), at, at + 1, failure));
        }
        return samples;
    }

    private static RequestSample sample(int index, long arrival, long done, Optional<String> failure) {
        return new RequestSample(index, 1, 1, arrival, arrival, ChunkTimes.of(done), done, Optional.empty(), failure);
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * 1e9);
    }
}
