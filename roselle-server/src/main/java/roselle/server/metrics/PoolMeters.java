package roselle.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.function.ToDoubleFunction;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelState;
import roselle.server.pool.PoolTotals;

/** The meters of models that are loaded when they are asked for, read from their pool at each scrape. */
final class PoolMeters {
    private final MeterRegistry registry;
    private final EnginePool pool;
    private final MultiGauge states;
    private final MultiGauge progress;
    private final MultiGauge memory;
    private final MultiGauge parked;

    PoolMeters(MeterRegistry registry, EnginePool pool) {
        this.registry = registry;
        this.pool = pool;
        states = MultiGauge.builder("roselle.model.state.info")
                .description(
                        "Where each model stands, as a label: unloaded, waiting, loading, loaded, unloading, sleeping, parked, failed")
                .register(registry);
        memory = MultiGauge.builder("roselle.model.memory.bytes")
                .description("Memory that each loaded model has: weights, keys and values, workspaces")
                .register(registry);
        parked = MultiGauge.builder("roselle.model.host.memory.bytes")
                .description(
                        "Memory of the machine in which each model's weights wait that had to leave a GPU for others")
                .register(registry);
        progress = MultiGauge.builder("roselle.model.loaded.ratio")
                .description("How much of each model's weights is loaded")
                .register(registry);
        gauge("models.memory.budget.bytes", "Memory that loaded models may take together", PoolTotals::budgetBytes);
        gauge("models.memory.used.bytes", "Memory that they take", PoolTotals::heldBytes);
        Gauge.builder("roselle.models.host.memory.budget.bytes", pool, EnginePool::hostBudget)
                .description("Memory of the machine that such models may take together")
                .register(registry);
        Gauge.builder("roselle.models.host.memory.used.bytes", pool, EnginePool::hostBytes)
                .description("Memory of the machine that they take")
                .register(registry);
        counter("models.loads", "Models that were loaded", PoolTotals::loads);
        counter("models.load.failures", "Models that could not be loaded", PoolTotals::failures);
        counter("models.page.moves", "How often a model was given pages, or gave them up", PoolTotals::moves);
        counter("models.evictions", "Models that were unloaded to make room for another", PoolTotals::evictions);
    }

    /** Sets the states' series to those of the moment, before they are read. */
    void tellModels() {
        List<ModelState> all = pool.models().states();
        states.register(
                all.stream()
                        .<MultiGauge.Row<?>>map(
                                state -> MultiGauge.Row.of(Tags.of("model", state.name(), "state", state.word()), 1))
                        .toList(),
                true);
        tell(memory, all, ModelState::bytes);
        tell(parked, all, ModelState::hostBytes);
        tell(progress, all, state -> state.percent() / 100.0);
    }

    private static void tell(MultiGauge gauge, List<ModelState> all, ToDoubleFunction<ModelState> value) {
        gauge.register(
                all.stream()
                        .<MultiGauge.Row<?>>map(
                                state -> MultiGauge.Row.of(Tags.of("model", state.name()), value.applyAsDouble(state)))
                        .toList(),
                true);
    }

    private void gauge(String name, String description, ToDoubleFunction<PoolTotals> value) {
        Gauge.builder(
                        "roselle." + name,
                        pool,
                        from -> value.applyAsDouble(from.models().totals()))
                .description(description)
                .register(registry);
    }

    private void counter(String name, String description, ToDoubleFunction<PoolTotals> value) {
        FunctionCounter.builder(
                        "roselle." + name,
                        pool,
                        from -> value.applyAsDouble(from.models().totals()))
                .description(description)
                .register(registry);
    }
}
