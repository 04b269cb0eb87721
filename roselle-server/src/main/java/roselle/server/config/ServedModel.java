package roselle.server.config;

import java.time.Instant;
import roselle.api.SamplingParameters;
import roselle.engine.Engine;

/**
 * A model that generates, with which the server answers.
 *
 * @param name what clients call it
 * @param engine the caller's, who closes it after the server
 * @param created when it was opened
 * @param parent the name of the model that this is an adapter of, or that it was made of; empty for a model
 * @param defaults what it adds to requests
 */
public record ServedModel(String name, Engine engine, Instant created, String parent, RequestDefaults defaults)
        implements Served {
    /** A model, or the adapter of a parent whose engine has it under {@code name}. */
    public ServedModel(String name, Engine engine, Instant created, String parent) {
        this(name, engine, created, parent, parent.isEmpty() ? RequestDefaults.NONE : RequestDefaults.ofAdapter(name));
    }

    /** A model. */
    public ServedModel(String name, Engine engine, Instant created) {
        this(name, engine, created, "");
    }

    public ServedModel(String name, Engine engine) {
        this(name, engine, Instant.now());
    }

    @Override
    public int context() {
        return defaults.context().orElse(engine.context());
    }

    /** What requests to the engine call the adapter; empty for a model. */
    public String adapter() {
        return defaults.adapter();
    }

    /**
     * How tokens are drawn where a request leaves it open: as whoever made the model says, else its makers, else as usual.
     *
     * @param usual of the API by which it is asked
     */
    public SamplingParameters sampling(SamplingParameters usual) {
        return defaults.sampling().apply(engine.advisedSampling().orElse(usual));
    }
}
