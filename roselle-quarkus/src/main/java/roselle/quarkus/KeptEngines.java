package roselle.quarkus;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;

/**
 * The engine of one kind that development mode goes on with after a reload, as long as its configuration stays the same.
 *
 * <p>The only state of ours that belongs to no instance: development mode loads an application anew with another class loader, and what
 * shall outlive that must hang on a class of the libraries, whose loader stays.
 *
 * @param <C> what an engine is opened with
 * @param <E> the engine
 */
final class KeptEngines<C, E extends AutoCloseable> {
    static final KeptEngines<EngineConfig, Engine> CHAT = new KeptEngines<>();
    static final KeptEngines<EmbeddingConfig, EmbeddingEngine> EMBEDDING = new KeptEngines<>();

    private @Nullable C config;
    private @Nullable E engine;

    /** The engine that is there, if it was opened alike; else it is closed, and another opened. */
    synchronized E keep(C wanted, Function<C, E> open) {
        E kept = engine;
        if (kept != null && wanted.equals(config)) {
            return kept;
        }
        engine = null;
        close(kept);
        E opened = open.apply(wanted);
        config = wanted;
        engine = opened;
        return opened;
    }

    private static void close(@Nullable AutoCloseable kept) {
        try {
            if (kept != null) {
                kept.close();
            }
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
