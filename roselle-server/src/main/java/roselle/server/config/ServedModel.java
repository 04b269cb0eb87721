package roselle.server.config;

import java.time.Instant;
import roselle.engine.Engine;

/**
 * A model that the server answers with.
 *
 * @param name what clients call it
 * @param engine the caller's, who closes it after the server
 * @param created when it was opened
 * @param parent the name of the model that this is an adapter of, whose engine has it under {@code name}; empty for a model
 */
public record ServedModel(String name, Engine engine, Instant created, String parent) {
    /** A model. */
    public ServedModel(String name, Engine engine, Instant created) {
        this(name, engine, created, "");
    }

    public ServedModel(String name, Engine engine) {
        this(name, engine, Instant.now());
    }

    /** What requests to the engine call the adapter; empty for a model. */
    public String adapter() {
        return parent.isEmpty() ? "" : name;
    }
}
