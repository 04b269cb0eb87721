package roselle.cli.serve;

import java.util.function.Supplier;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingStatus;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;

/**
 * What is served, and the engine behind it.
 *
 * @param close ends the engine
 * @param health of the engine at the moment
 */
record Serving(Served model, Runnable close, Supplier<Health> health) {
    /**
     * Whether an engine takes requests.
     *
     * @param failure why it does not; empty where it does
     */
    record Health(boolean isAlive, String failure) {}

    static Serving of(String name, Engine engine) {
        return new Serving(new ServedModel(name, engine), engine::close, () -> {
            EngineStatus status = engine.status();
            return new Health(status.isAlive(), status.failure());
        });
    }

    static Serving of(String name, EmbeddingEngine engine) {
        return new Serving(new ServedEncoder(name, engine), engine::close, () -> {
            EmbeddingStatus status = engine.status();
            return new Health(status.isAlive(), status.failure());
        });
    }
}
