package roselle.model.architecture.llama;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/** Mistral: Llama with a sliding window in all layers (Jiang et al., 2023). */
public final class Mistral implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("mistral");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        return new Blueprint(builder(config).spec(), Names.huggingFace());
    }

    public static SpecBuilder builder(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, config.isGguf());
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> true);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return builder;
    }
}
