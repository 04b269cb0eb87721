package roselle.model.architecture.dense;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;

/** EXAONE 4: norms on what each half adds and on single heads; where there are windows, full layers have no positions. */
public final class Exaone4 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("exaone4");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("exaone4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(false, true, false, false, 1f);
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        windows(config, builder);
        return new Blueprint(builder.spec(), Names.of(config, Olmo2.NAMES));
    }

    private static void windows(ModelConfig config, SpecBuilder builder) {
        boolean named = !config.isGguf() && config.has("layer_types", "");
        boolean said = config.has("sliding_window_pattern", ""); // a number, or letters beside names of layers
        int pattern = said && !named ? config.size("sliding_window_pattern", "", 1 << 20) : 4;
        int window = config.window("sliding_window", "attention.sliding_window");
        builder.windows(config, window, layer -> (layer + 1) % pattern != 0);
        if (window != 0) {
            builder.dropPositionsOfFullLayers();
        }
    }
}
