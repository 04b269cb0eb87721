package roselle.bench.stage;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.Target;
import roselle.bench.load.LoadGenerator;
import roselle.bench.metric.Latencies;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.Throughput;
import roselle.bench.stage.CapacitySearch.Verdict;
import roselle.bench.trace.SyntheticTrace;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceEntry;

/**
 * Finds the highest rate at which an engine keeps an objective.
 *
 * <p>A probe sends requests of the trace's lengths as a Poisson process. Overload of a few per cent shows only after a
 * while, since queues grow slowly: a probe lasts as long as it is told, and has a least number of requests so that p99
 * means something.
 */
public final class CapacityStage {
    private static final double ALONE = 0.02; // requests at a time, on average
    private static final double NEARLY_ALONE = 0.3; // three of four meet no other

    private final OnlinePlan plan;
    private final OnlineStage online;
    private final CapacitySearch search;
    private final ProbeSize size;
    private final int searches;

    /**
     * How long a probe is.
     *
     * @param seconds of arrivals
     * @param requests at least
     */
    public record ProbeSize(double seconds, int requests) {
        public ProbeSize {
            if (!(seconds > 0 && seconds < 1e6) || requests < 1) {
                throw new InvalidRequestException(
                        "a probe of " + seconds + " s and " + requests + " requests is not possible: both are above 0");
            }
        }

        int count(double rate) {
            return (int) Math.min(1_000_000, Math.max(requests, Math.ceil(rate * seconds)));
        }
    }

    /** One rate that was tried. */
    public record Probe(int search, double rate, boolean isKept, List<RequestSample> samples) {
        public Probe {
            samples = List.copyOf(samples);
        }

        public Latencies latencies() {
            return Latencies.of(samples);
        }

        public Throughput throughput() {
            return Throughput.of(samples);
        }
    }

    /**
     * A search by doubling and bisection, done several times.
     *
     * @param searches each with arrivals of its own, so that their spread tells how sure the result is
     */
    public CapacityStage(OnlinePlan plan, PromptSource prompts, CapacitySearch search, ProbeSize size, int searches) {
        if (searches < 1) {
            throw new InvalidRequestException("there are " + searches + " searches: at least one is needed");
        }
        this.plan = plan;
        this.search = search;
        this.size = size;
        this.searches = searches;
        online = new OnlineStage(plan, prompts);
    }

    /** Sends the requests of a probe; the seed is that of their prompts. */
    @FunctionalInterface
    interface Replay {
        List<RequestSample> samples(Trace arrivals, long seed) throws InterruptedException;
    }

    /** One result for each search; every probe is handed on as soon as it is there. */
    public List<CapacitySearch.Result> run(Target target, Consumer<Probe> probes) throws InterruptedException {
        try (var load = new LoadGenerator(target.endpoint(), plan.load())) {
            online.warmUp(load, target);
            return search((arrivals, seed) -> online.replay(load, target, arrivals, seed), probes);
        }
    }

    /** The same with requests sent by somebody else. */
    List<CapacitySearch.Result> search(Replay replay, Consumer<Probe> probes) throws InterruptedException {
        var results = new ArrayList<CapacitySearch.Result>();
        for (int i = 0; i < searches; i++) {
            int number = i;
            results.add(search.find(rate -> verdict(replay, number, rate, probes)));
        }
        return results;
    }

    private Verdict verdict(Replay replay, int number, double rate, Consumer<Probe> probes)
            throws InterruptedException {
        long seed = plan.seed() + 7919L * (number + 1) + Double.hashCode(rate);
        List<RequestSample> samples = replay.samples(arrivals(rate, seed), seed);
        boolean isKept = plan.objective()
                .isKeptBy(Latencies.of(samples), Throughput.of(samples).failureShare());
        probes.accept(new Probe(number, rate, isKept, samples));
        return isKept ? Verdict.CARRIED : isHopeless(rate, samples) ? Verdict.HOPELESS : Verdict.REFUSED;
    }

    /**
     * Whether requests break the objective that hardly meet each other: by Little's law rate · mean time of them run at a
     * time. Without this an objective that nothing keeps would be searched for at rates of one request a day.
     */
    private boolean isHopeless(double rate, List<RequestSample> samples) {
        double seconds =
                samples.stream().mapToDouble(RequestSample::e2eMillis).average().orElse(0) / 1e3;
        long broken = samples.stream()
                .filter(sample -> !plan.objective().isKeptBy(sample))
                .count();
        return rate * seconds < ALONE || (rate * seconds < NEARLY_ALONE && 2 * broken > samples.size());
    }

    /** Lengths in the trace's order, over and over, at the moments of a Poisson process. */
    Trace arrivals(double rate, long seed) {
        long positive = (seed & 0x1fffffff) + 1;
        Trace moments = SyntheticTrace.read("poisson:rate=" + rate + ",seed=" + positive, size.count(rate));
        List<TraceEntry> lengths = plan.trace().entries();
        var entries = new ArrayList<TraceEntry>();
        for (int i = 0; i < moments.entries().size(); i++) {
            TraceEntry length = lengths.get(i % lengths.size());
            double moment = moments.entries().get(i).arrivalSeconds();
            entries.add(new TraceEntry(moment, length.inputTokens(), length.outputTokens(), length.blocks()));
        }
        return new Trace(
                plan.trace().name(), plan.trace().format(), plan.trace().blockTokens(), entries, 0);
    }
}
