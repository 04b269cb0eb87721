package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Phi 1 to 2: attention and feed-forward side by side behind one layer norm, biases everywhere. */
public final class Phi implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("phi");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("phi2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.block = new BlockSpec(true, false, true, true, 1f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        builder.queryKeyNorm = config.flag("qk_layernorm", "", false) ? QueryKeyNorm.PER_HEAD : QueryKeyNorm.NONE;
        builder.plain(config, "hidden_act", Activation.GELU_TANH, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, false), true, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.FINAL_NORM, "model.final_layernorm",
            Part.ATTENTION_OUTPUT, Names.layer("self_attn.dense"),
            Part.QUERY_NORM, Names.layer("self_attn.q_layernorm"),
            Part.KEY_NORM, Names.layer("self_attn.k_layernorm"),
            Part.UP, Names.layer("mlp.fc1"),
            Part.DOWN, Names.layer("mlp.fc2"));
}
