package roselle.server.pool;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.Served;

/** A pool of engines with the threads that it needs: one for each load and each unloading, and one that looks at the time. */
public final class EnginePool implements AutoCloseable {
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    private final ModelPool<Served> pool;
    private final Instant created = Instant.now();
    private final List<String> pinned;
    private final Thread clock;

    private EnginePool(PoolOptions options) {
        pool = new ModelPool<>(
                options.models().stream().map(this::member).toList(),
                options.memory(),
                options.patience(),
                task -> Thread.ofPlatform().daemon().name("roselle-models").start(task),
                System::nanoTime);
        pinned = options.models().stream()
                .filter(PooledModel::isPinned)
                .map(PooledModel::name)
                .toList();
        clock = Thread.ofVirtual().name("roselle-models-clock").unstarted(this::watch);
    }

    private ModelPool.Member<Served> member(PooledModel model) {
        return new ModelPool.Member<>(
                model.name(),
                model.aliases(),
                new ServedSource(model.name(), model.engine(), created),
                model.isPinned(),
                model.keepAlive());
    }

    /** A pool that begins to load what is pinned. */
    public static EnginePool open(PoolOptions options) {
        var opened = new EnginePool(options);
        opened.clock.start();
        for (String name : opened.pinned) {
            var _ = opened.pool.ask(name).thenAccept(Lease::close); // what fails says so in its state
        }
        return opened;
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(BETWEEN_LOOKS);
                pool.expire();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the pool is closed
        }
    }

    public ModelPool<Served> models() {
        return pool;
    }

    /** Since when its models can be asked. */
    public Instant created() {
        return created;
    }

    /** Why the first requests would wait, if so: a model that is pinned is still on its way. */
    public Optional<String> complaint() {
        return pool.states().stream()
                .filter(state -> state.isPinned() && state.isOnItsWay())
                .map(state -> "the model " + state.name() + " is being loaded, " + state.percent() + " % of it so far")
                .findFirst();
    }

    @Override
    public void close() {
        clock.interrupt();
        pool.close();
    }
}
