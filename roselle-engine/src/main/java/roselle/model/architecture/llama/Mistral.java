package roselle.model.architecture.llama;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/**
 * Mistral: Llama with a sliding window in all layers (Jiang et al., 2023); Ministral, some of whose layers see everything; Ministral 3,
 * whose queries grow with their positions.
 */
public final class Mistral implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("ministral", "ministral3", "mistral");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        return new Blueprint(builder(config).spec(), Names.of(config, Map.of()));
    }

    public static SpecBuilder builder(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), 10_000, config.isGguf());
        Arrays.fill(builder.ropes, ropes.read());
        builder.traits = builder.traits.withQueryScale(ropes.queryScale());
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> true);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return builder;
    }
}
