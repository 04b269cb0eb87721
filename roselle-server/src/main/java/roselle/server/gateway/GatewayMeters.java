package roselle.server.gateway;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** What the gateway counts and times, as Prometheus reads it. */
final class GatewayMeters {
    private static final long[] MICROS = {20, 50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 250_000};
    private static final long[] MILLIS = {5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Timer choice;
    private final Timer firstByte;
    private final Counter promptBytes;
    private final Counter matchedBytes;

    GatewayMeters(Members members) {
        choice = timer("roselle.gateway.choice", "From a request's body to its way to a member", MICROS, 1_000);
        firstByte = timer(
                "roselle.gateway.first.byte", "From a request's body to its answer's first byte", MILLIS, 1_000_000);
        promptBytes = counter("roselle.gateway.prompt.bytes", "Bytes of prompts that were sent to members");
        matchedBytes =
                counter("roselle.gateway.prompt.matched.bytes", "Those of them that the member had been sent before");
        for (Member member : members.all()) {
            gauge(
                    "roselle.gateway.member.ready",
                    "Whether a member can be asked",
                    member,
                    () -> member.isReady() ? 1 : 0);
            gauge(
                    "roselle.gateway.open.requests",
                    "Requests that it has not ended answering",
                    member,
                    () -> members.open(member));
        }
    }

    private Timer timer(String name, String description, long[] bounds, long unitNanos) {
        return Timer.builder(name)
                .description(description)
                .serviceLevelObjectives(LongStream.of(bounds)
                        .mapToObj(bound -> Duration.ofNanos(bound * unitNanos))
                        .toArray(Duration[]::new))
                .register(registry);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).register(registry);
    }

    private void gauge(String name, String description, Member member, java.util.function.Supplier<Number> value) {
        Gauge.builder(name, value)
                .description(description)
                .tag("member", member.name())
                .register(registry);
    }

    /** A request is on its way to a member. */
    void sent(Members.Sent sent, Prompt prompt, long nanos) {
        choice.record(nanos, TimeUnit.NANOSECONDS);
        promptBytes.increment(prompt.bytes());
        matchedBytes.increment(sent.matched());
    }

    void begun(long nanos) {
        firstByte.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** A request was answered by a member, with this status. */
    void answered(Member member, int status) {
        Counter.builder("roselle.gateway.requests")
                .description("Requests that members answered, by status")
                .tag("member", member.name())
                .tag("status", Integer.toString(status))
                .register(registry)
                .increment();
    }

    /** A member failed a request or was full: {@code failed}, {@code full} or {@code broken} when it had begun. */
    void failed(Member member, String how) {
        Counter.builder("roselle.gateway.failures")
                .description("Requests that a member failed, before its first byte or behind it, or was too full for")
                .tag("member", member.name())
                .tag("reason", how)
                .register(registry)
                .increment();
    }

    /** The gateway refused a request itself. */
    void refused(String code) {
        Counter.builder("roselle.gateway.refusals")
                .description("Requests that the gateway refused itself, by the code of the error")
                .tag("code", code)
                .register(registry)
                .increment();
    }

    String scrape() {
        return registry.scrape();
    }
}
