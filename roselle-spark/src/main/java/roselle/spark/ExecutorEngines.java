package roselle.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.Engine;
import roselle.offline.RowPool;

/**
 * The engines of this JVM, which its tasks share; those that no task uses are closed when another is wanted, all of them when the JVM
 * ends.
 *
 * <p>Tasks of Spark have nothing but static fields in common, so there is one of these.
 */
final class ExecutorEngines {
    private static final System.Logger LOG = System.getLogger(ExecutorEngines.class.getName());

    static final ExecutorEngines OF_THIS_JVM = new ExecutorEngines();

    private final Map<ModelSpec, Shared<Engine>> generating = new ConcurrentHashMap<>();
    private final Map<ModelSpec, Shared<EmbeddingEngine>> embedding = new ConcurrentHashMap<>();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(OF_THIS_JVM::closeAll, "roselle-shutdown"));
    }

    /** An engine, and the places that all of its rows share. */
    private static final class Shared<E extends AutoCloseable> {
        private final E engine;
        private final RowPool pool;
        private int users;

        Shared(E engine, RowPool pool) {
            this.engine = engine;
            this.pool = pool;
        }
    }

    /** A task's hold on an engine. */
    record Use<E>(E engine, RowPool pool, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }

    Use<Engine> generator(ModelSpec spec) {
        return use(generating, spec, each -> Engine.open(each.engine()));
    }

    Use<EmbeddingEngine> encoder(ModelSpec spec) {
        return use(embedding, spec, each -> EmbeddingEngine.open(each.encoder()));
    }

    private synchronized <E extends AutoCloseable> Use<E> use(
            Map<ModelSpec, Shared<E>> open, ModelSpec spec, Function<ModelSpec, E> opener) {
        @Nullable Shared<E> shared = open.get(spec);
        if (shared == null) {
            closeUnused(generating);
            closeUnused(embedding);
            long begin = System.nanoTime();
            shared = new Shared<>(opener.apply(spec), new RowPool(spec.rowsAtATime()));
            open.put(spec, shared);
            LOG.log(
                    System.Logger.Level.INFO,
                    "event=engine_opened model={0} device={1} millis={2}",
                    spec.model(),
                    spec.device().name(),
                    (System.nanoTime() - begin) / 1_000_000);
        }
        shared.users++;
        Shared<E> held = shared;
        return new Use<>(held.engine, held.pool, () -> giveBack(held));
    }

    private synchronized void giveBack(Shared<?> shared) {
        shared.users--;
    }

    private static <E extends AutoCloseable> void closeUnused(Map<ModelSpec, Shared<E>> open) {
        open.values().removeIf(shared -> {
            if (shared.users == 0) {
                close(shared.engine);
            }
            return shared.users == 0;
        });
    }

    private static void close(AutoCloseable engine) {
        try {
            engine.close();
        } catch (Exception failure) {
            throw new IllegalStateException("an engine could not be closed", failure);
        }
    }

    /** The open engines, for metrics. */
    <R> List<R> each(BiFunction<ModelSpec, Engine, R> told) {
        List<R> all = new ArrayList<>();
        generating.forEach((spec, shared) -> all.add(told.apply(spec, shared.engine)));
        return all;
    }

    /** Ends all engines; tasks that use one fail. */
    synchronized void closeAll() {
        generating.values().forEach(shared -> close(shared.engine));
        embedding.values().forEach(shared -> close(shared.engine));
        generating.clear();
        embedding.clear();
    }
}
