package roselle.model.config;

import java.util.Set;
import roselle.model.weights.Blueprint;

/** One family of decoders or encoders: how its configuration and its tensors' names are to be read. */
public interface Architecture {
    /** {@code model_type} of the {@code config.json}s it reads. */
    Set<String> modelTypes();

    /** {@code general.architecture} of the GGUFs it reads. */
    Set<String> ggufNames();

    Blueprint read(ModelConfig config);
}
