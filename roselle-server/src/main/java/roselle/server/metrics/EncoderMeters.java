package roselle.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingStatus;
import roselle.server.config.ServedEncoder;

/** One encoder's meters, read from its engine's status at each scrape; what engines have in common has one name. */
final class EncoderMeters {
    private final MeterRegistry registry;
    private final EmbeddingEngine engine;
    private final Tags tags;
    private final List<Meter> meters = new ArrayList<>();

    private EncoderMeters(MeterRegistry registry, ServedEncoder encoder) {
        this.registry = registry;
        engine = encoder.engine();
        tags = Tags.of("model", encoder.name());
    }

    static EncoderMeters register(MeterRegistry registry, ServedEncoder encoder) {
        var meters = new EncoderMeters(registry, encoder);
        meters.gauges();
        meters.counters();
        return meters;
    }

    boolean isOf(ServedEncoder encoder) {
        return encoder.engine() == engine;
    }

    /** Takes its series away: the engine is gone. */
    void close() {
        meters.forEach(registry::remove);
    }

    private void gauges() {
        gauge("encoder.texts.waiting", "Texts that wait for a step", EmbeddingStatus::waiting);
        gauge("engine.up", "1 while the engine takes requests", status -> status.isAlive() ? 1 : 0);
        gauge("engine.turn.seconds", "How long the turn under way has lasted, 0 at rest", s -> s.turnNanos() / 1e9);
        meters.add(Gauge.builder("roselle.device.info", () -> 1)
                .description("What runs the model, how it computes products, and why so, as a label")
                .tags(tags.and("device", engine.device()))
                .register(registry));
    }

    private void counters() {
        counter("encoder.texts", "Texts that were computed", EmbeddingStatus::texts);
        counter("encoder.tokens", "Tokens of these texts", EmbeddingStatus::tokens);
        counter("encoder.texts.expired", "Texts whose deadline passed before", EmbeddingStatus::expired);
        counter("steps", "Steps of the batch", EmbeddingStatus::steps);
        counter("step.seconds", "How long all steps took", status -> status.stepNanos() / 1e9);
    }

    private void gauge(String name, String description, ToDoubleFunction<EmbeddingStatus> value) {
        meters.add(Gauge.builder("roselle." + name, engine, e -> value.applyAsDouble(e.status()))
                .description(description)
                .tags(tags)
                .register(registry));
    }

    private void counter(String name, String description, ToDoubleFunction<EmbeddingStatus> value) {
        meters.add(FunctionCounter.builder("roselle." + name, engine, e -> value.applyAsDouble(e.status()))
                .description(description)
                .tags(tags)
                .register(registry));
    }
}
