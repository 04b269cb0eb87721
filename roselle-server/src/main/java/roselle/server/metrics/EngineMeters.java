package roselle.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import roselle.engine.Engine;
import roselle.engine.EnginePlan;
import roselle.engine.EngineStatus;
import roselle.engine.EngineTotals;
import roselle.server.config.ServedModel;

/** One engine's meters, of which each scrape tells those of one moment. */
final class EngineMeters {
    private final MeterRegistry registry;
    private final Engine engine;
    private final Tags tags;
    private final MultiGauge adapters;
    private final List<Meter> meters = new ArrayList<>();
    private volatile EngineStatus status; // of the latest look
    private Tags adapterLabels = Tags.empty();

    private EngineMeters(MeterRegistry registry, ServedModel model) {
        this.registry = registry;
        engine = model.engine();
        status = engine.status();
        tags = Tags.of("model", model.name());
        adapters = MultiGauge.builder("roselle.lora.requests.info")
                .description("Adapters of requests that have a token and that have none yet, as labels, and the time")
                .register(registry);
    }

    static EngineMeters register(MeterRegistry registry, ServedModel model) {
        var meters = new EngineMeters(registry, model);
        meters.gateway();
        meters.pools();
        meters.gauges();
        meters.counters();
        return meters;
    }

    boolean isOf(ServedModel model) {
        return model.engine() == engine;
    }

    /** Takes its series away: the engine is gone. */
    void close() {
        meters.forEach(registry::remove);
        adapters.register(List.of(), true);
    }

    /** Takes the engine's status, and the adapters that are in use, before the series are read. */
    void look() {
        status = engine.status();
        Tags labels = tags.and(
                "max_lora",
                Integer.toString(engine.maxAdapters()),
                "running_lora_adapters",
                String.join(",", engine.adaptersInUse(true)),
                "waiting_lora_adapters",
                String.join(",", engine.adaptersInUse(false)));
        if (!labels.equals(adapterLabels)) {
            adapterLabels = labels;
            adapters.register(List.of(MultiGauge.Row.of(labels, () -> System.currentTimeMillis() / 1e3)), true);
        }
    }

    /** The five series that a gateway routes by. */
    private void gateway() {
        gauge(
                "requests.waiting",
                "Answers that wait for their first step or, preempted, to go on",
                EngineMeters::queued);
        gauge("requests.running", "Answers that are being generated", EngineStatus::running);
        gauge("kv.cache.usage.ratio", "Pages that answers in the making hold, of all pages", EngineMeters::usage);
        EnginePlan plan = engine.plan();
        meters.add(Gauge.builder("roselle.cache.config.info", () -> 1)
                .description(
                        "The size of a page in tokens, the number of pages and how keys and values are stored, as labels")
                .tags(tags.and(
                        "block_size",
                        Integer.toString(plan.pageTokens()),
                        "cache_dtype",
                        plan.kvType().label(),
                        "num_gpu_blocks",
                        Integer.toString(engine.status().totalPages())))
                .register(registry));
        meters.add(Gauge.builder("roselle.device.info", () -> 1)
                .description("What runs the model, how it computes products, and why so, as a label")
                .tags(tags.and("device", engine.status().device()))
                .register(registry));
    }

    private static double queued(EngineStatus status) {
        return (double) status.waiting() + status.preempted();
    }

    private static double usage(EngineStatus status) {
        return status.totalPages() == 0 ? 0 : (double) status.usedPages() / status.totalPages();
    }

    /** What each pool of pages is, as the plan settled it. */
    private void pools() {
        EnginePlan plan = engine.plan();
        for (int pool = 0; pool < plan.caches().size(); pool++) {
            EnginePlan.Cache cache = plan.caches().get(pool);
            Tags of = tags.and("pool", Integer.toString(pool))
                    .and("layers", cache.name())
                    .and("holds", cache.holdsStates() ? "states" : "keys and values")
                    .and("type", cache.type().label());
            meters.add(Gauge.builder("roselle.cache.pool.pages", cache::pages)
                    .description("Pages of a pool, or states")
                    .tags(of)
                    .register(registry));
            meters.add(Gauge.builder("roselle.cache.pool.bytes", cache::bytes)
                    .description("Memory of a pool")
                    .tags(of)
                    .register(registry));
        }
    }

    private static double hitRatio(EngineStatus status) {
        long read = status.totals().promptTokens();
        return read == 0 ? 0 : (double) status.totals().cachedTokens() / read;
    }

    private void gauges() {
        var rate = new TokenRate(System.nanoTime());
        gauge(
                "generated.tokens.per.second",
                "Tokens of all answers a second, since the series was read before",
                s -> rate.at(System.nanoTime(), s.totals().generatedTokens()));
        gauge(
                "prefix.hit.ratio",
                "Tokens of prompts that were found in the prefix cache, of all",
                EngineMeters::hitRatio);
        gauge("requests.preempted", "Answers that lost their pages and wait to go on", EngineStatus::preempted);
        gauge("kv.cache.pages.used", "Pages that answers in the making hold", EngineStatus::usedPages);
        gauge("kv.cache.pages.cached", "Pages that only the prefix cache holds", EngineStatus::cachedPages);
        gauge("kv.cache.pages", "Pages there are", EngineStatus::totalPages);
        gauge("engine.up", "1 while the engine takes requests", status -> status.isAlive() ? 1 : 0);
        gauge("engine.turn.seconds", "How long the turn under way has lasted, 0 at rest", s -> s.turnNanos() / 1e9);
    }

    private void counters() {
        counter("prompt.tokens", "Tokens of the prompts that were begun", EngineTotals::promptTokens);
        counter("prefix.hit.tokens", "Those found in the prefix cache", EngineTotals::cachedTokens);
        counter("generated.tokens", "Tokens of all answers", EngineTotals::generatedTokens);
        counter("forced.tokens", "Those that were the only ones allowed, taken unsampled", EngineTotals::forcedTokens);
        counter("preemptions", "How often an answer lost its pages to another", EngineTotals::preemptions);
        counter("steps", "Steps of the batch", EngineTotals::steps);
        counter("step.rows", "Tokens of all steps, prompts and answers", EngineTotals::rows);
        counter("step.seconds", "How long all steps took", totals -> totals.stepNanos() / 1e9);
    }

    private void gauge(String name, String description, ToDoubleFunction<EngineStatus> value) {
        meters.add(Gauge.builder("roselle." + name, this, own -> value.applyAsDouble(own.status))
                .description(description)
                .tags(tags)
                .register(registry));
    }

    private void counter(String name, String description, ToDoubleFunction<EngineTotals> value) {
        meters.add(FunctionCounter.builder("roselle." + name, this, own -> value.applyAsDouble(own.status.totals()))
                .description(description)
                .tags(tags)
                .register(registry));
    }
}
