package roselle.server.config;

import java.time.Instant;
import roselle.embedding.EmbeddingEngine;

/**
 * An encoder that the server answers with.
 *
 * @param name what clients call it
 * @param engine the caller's, who closes it after the server
 * @param created when it was opened
 */
public record ServedEncoder(String name, EmbeddingEngine engine, Instant created) implements Served {
    public ServedEncoder(String name, EmbeddingEngine engine) {
        this(name, engine, Instant.now());
    }

    @Override
    public int context() {
        return engine.context();
    }

    /** Whether texts give scores, one for each label, and no vectors. */
    public boolean isClassifier() {
        return !engine.labels().isEmpty();
    }
}
