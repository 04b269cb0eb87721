package roselle.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.stream.LongStream;

/** What is timed and counted of one model's requests. */
final class RequestMeters {
    private static final long[] TOKEN_MICROS = {
        500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 250_000, 500_000, 1_000_000,
        2_500_000
    };
    private static final long[] REQUEST_MILLIS = {
        1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000
    };

    private static final double[] TOKENS = {
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000
    };

    private final MeterRegistry registry;
    private final String model;
    final Timer firstToken;
    final Timer nextToken;
    final Timer total;
    final Timer queue;
    final Timer prefill;
    final Timer decode;
    final DistributionSummary promptTokens;
    final DistributionSummary generatedTokens;
    final DistributionSummary longestAnswer;

    RequestMeters(MeterRegistry registry, String model) {
        this.registry = registry;
        this.model = model;
        firstToken = timer("time.to.first.token", "From acceptance to the first token", REQUEST_MILLIS, 1_000_000);
        nextToken = timer("inter.token.latency", "Between two tokens of a choice", TOKEN_MICROS, 1_000);
        total = timer(
                "request.duration", "From acceptance to the end, of requests that finished", REQUEST_MILLIS, 1_000_000);
        queue = timer("request.queue", "From acceptance to the first step", REQUEST_MILLIS, 1_000_000);
        prefill = timer("request.prefill", "From the first step to the first token", REQUEST_MILLIS, 1_000_000);
        decode = timer("request.decode", "From the first token to the end", REQUEST_MILLIS, 1_000_000);
        promptTokens = tokens("request.prompt.tokens", "Tokens of a request's prompt");
        generatedTokens = tokens("request.generated.tokens", "Tokens of all answers to a request");
        longestAnswer = tokens("request.longest.answer.tokens", "Tokens of a request's longest answer");
    }

    private DistributionSummary tokens(String name, String description) {
        return DistributionSummary.builder("roselle." + name)
                .description(description)
                .tag("model", model)
                .serviceLevelObjectives(TOKENS)
                .register(registry);
    }

    private Timer timer(String name, String description, long[] bounds, long unitNanos) {
        return Timer.builder("roselle." + name)
                .description(description)
                .tag("model", model)
                .serviceLevelObjectives(LongStream.of(bounds)
                        .mapToObj(bound -> Duration.ofNanos(bound * unitNanos))
                        .toArray(Duration[]::new))
                .register(registry);
    }

    /** A request for which a gateway had said how fast it is wanted has ended: {@code ttft} or {@code tpot}, and whether it was. */
    void objective(String kind, boolean isMet) {
        Counter.builder("roselle.slo.requests")
                .description("Requests that finished and had an objective of a trusted gateway, by whether it was met")
                .tag("model", model)
                .tag("slo", kind)
                .tag("met", Boolean.toString(isMet))
                .register(registry)
                .increment();
    }

    /** A request ended: {@code stop}, {@code length}, {@code cancelled} or {@code failed}. */
    void ended(String outcome) {
        Counter.builder("roselle.requests")
                .description("Requests that ended, by outcome")
                .tag("model", model)
                .tag("outcome", outcome)
                .register(registry)
                .increment();
    }
}
