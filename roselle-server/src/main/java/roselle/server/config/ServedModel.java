package roselle.server.config;

import java.time.Instant;
import roselle.engine.Engine;

/**
 * A model that generates, with which the server answers.
 *
 * @param name what clients call it
 * @param engine the caller's, who closes it after the server
 * @param created when it was opened
 * @param parent the name of the model that this is an adapter of, whose engine has it under {@code name}; empty for a model
 */
public record ServedModel(String name, Engine engine, Instant created, String parent) implements Served {
    /** A model. */
    public ServedModel(String name, Engine engine, Instant created) {
        this(name, engine, created, "");
    }

    public ServedModel(String name, Engine engine) {
        this(name, engine, Instant.now());
    }

    @Override
    public int context() {
        return engine.context();
    }

    /** What requests to the engine call the adapter; empty for a model. */
    public String adapter() {
        return parent.isEmpty() ? "" : name;
    }
}
