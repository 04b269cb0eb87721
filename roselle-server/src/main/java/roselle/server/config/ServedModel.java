package roselle.server.config;

import java.time.Instant;
import roselle.engine.Engine;

/**
 * A model that the server answers with.
 *
 * @param name what clients call it
 * @param engine the caller's, who closes it after the server
 * @param created when it was opened
 */
public record ServedModel(String name, Engine engine, Instant created) {
    public ServedModel(String name, Engine engine) {
        this(name, engine, Instant.now());
    }
}
