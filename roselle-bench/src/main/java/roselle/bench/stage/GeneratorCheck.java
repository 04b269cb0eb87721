package roselle.bench.stage;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import roselle.bench.load.Endpoint;
import roselle.bench.load.LoadGenerator;
import roselle.bench.load.LoadOptions;
import roselle.bench.load.LoadRequest;
import roselle.bench.metric.Distribution;
import roselle.bench.metric.Latencies;
import roselle.bench.metric.RequestSample;
import roselle.bench.stub.Script;
import roselle.bench.stub.Stall;
import roselle.bench.stub.StubServer;

/**
 * Measures the load generator itself: against a stub in this process whose delays are known, at a constant rate.
 *
 * @param rate requests per second
 * @param requests of the measured run
 * @param tokens of each answer
 * @param script of the stub
 */
public record GeneratorCheck(int rate, int requests, int tokens, Script script) {
    private static final int WAKE_UPS = 500;

    /** A thousand requests a second, each of them a stream of a little more than two seconds. */
    public static GeneratorCheck standard() {
        return new GeneratorCheck(1000, 6000, 3, Script.spread(1900, 2100, 90, 110));
    }

    /**
     * What was found.
     *
     * @param failed requests
     * @param streams open at a time, at most
     * @param lateness of the sending, in milliseconds
     * @param first measured times to first token
     * @param scriptedFirst what the script says
     * @param gaps measured gaps between tokens
     * @param scriptedGaps what the script says
     */
    public record Found(
            long failed,
            int streams,
            Distribution lateness,
            Distribution first,
            Distribution scriptedFirst,
            Distribution gaps,
            Distribution scriptedGaps) {
        /** How far a measured percentile is from the script's, as a share. */
        public double deviation(double quantile) {
            return Math.max(
                    share(first.quantile(quantile), scriptedFirst.quantile(quantile)),
                    share(gaps.quantile(quantile), scriptedGaps.quantile(quantile)));
        }

        private static double share(double measured, double scripted) {
            return Math.abs(measured - scripted) / scripted;
        }
    }

    /** Warms up, then measures. */
    public Found run() throws InterruptedException {
        try (var stub = StubServer.start(0, script, Stall.NONE);
                var load = new LoadGenerator(
                        new Endpoint(stub.uri().resolve("/v1/completions"), Map.of()), LoadOptions.DEFAULT)) {
            load.run(requests(Math.min(requests, 2 * rate)));
            stub.restart();
            return found(load.run(requests(requests)));
        }
    }

    private List<LoadRequest> requests(int count) {
        byte[] body = ("{\"prompt\":[1,2,3],\"stream\":true,\"max_tokens\":" + tokens + "}")
                .getBytes(StandardCharsets.US_ASCII);
        return IntStream.range(0, count)
                .mapToObj(i -> new LoadRequest(i, i * 1_000_000_000L / rate, 3, tokens, () -> body))
                .toList();
    }

    private Found found(List<RequestSample> samples) {
        Latencies latencies = Latencies.of(samples);
        return new Found(
                samples.stream().filter(RequestSample::hasFailed).count(),
                mostAtATime(samples),
                Distribution.of(samples.stream().mapToDouble(RequestSample::latenessMillis)),
                latencies.ttft(),
                Distribution.of(IntStream.range(0, requests).mapToDouble(i -> script.firstTokenNanos(i) / 1e6)),
                latencies.itl(),
                Distribution.of(IntStream.range(0, requests)
                        .boxed()
                        .flatMapToDouble(i ->
                                IntStream.range(1, tokens).mapToDouble(token -> script.gapNanos(i, token) / 1e6))));
    }

    private static int mostAtATime(List<RequestSample> samples) {
        long[] starts =
                samples.stream().mapToLong(RequestSample::started).sorted().toArray();
        long[] ends = samples.stream().mapToLong(RequestSample::ended).sorted().toArray();
        int most = 0;
        for (int ended = 0; ended < ends.length; ended++) {
            int begun = Arrays.binarySearch(starts, ends[ended]);
            most = Math.max(most, (begun < 0 ? -begun - 1 : begun) - ended);
        }
        return most;
    }

    /**
     * How late this machine wakes a thread that only sleeps, in milliseconds: what no generator can be better than.
     */
    public static Distribution wakeUps() {
        var late = new ArrayList<Double>();
        for (int i = 0; i < WAKE_UPS; i++) {
            long due = System.nanoTime() + 1_000_000;
            for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            late.add((System.nanoTime() - due) / 1e6);
        }
        return Distribution.of(late.stream().mapToDouble(Double::doubleValue));
    }
}
