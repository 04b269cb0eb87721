package roselle.model.architecture.expert;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** K-EXAONE: windows with positions, layers that see everything without, experts chosen by groups with a correction. */
public final class ExaoneMoe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("exaone_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("exaone-moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        Sizes sizes = Sizes.of(config);
        var builder = SpecBuilder.of(config, sizes.withoutLayers(config.sizeOrNone("", "nextn_predict_layers", 64)));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 1_000_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        config.has("sliding_window_pattern", ""); // a number or letters, beside names of layers
        int window = config.window("sliding_window", "attention.sliding_window");
        builder.windows(config, window, layer -> (layer + 1) % 4 != 0);
        if (window != 0) {
            builder.dropPositionsOfFullLayers();
        }
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(
                builder.spec(),
                config.isGguf() ? Names.gguf() : DeepseekV3.names(config).with(NAMES));
    }

    private static final Map<Part, String> NAMES =
            Map.of(Part.ROUTER_CORRECTION, Names.layer("mlp.e_score_correction_bias"));
}
