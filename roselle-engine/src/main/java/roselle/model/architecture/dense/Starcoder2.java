package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** StarCoder 2: layer norms, biases everywhere, a plain feed-forward. */
public final class Starcoder2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("starcoder2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("starcoder2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(config, "norm_epsilon", true);
        builder.rope(config, 10_000, false);
        boolean bias = config.flag("use_bias", "", true);
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> true);
        builder.plain(config, "hidden_act", Activation.GELU_TANH, bias);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES =
            Map.of(Part.UP, Names.layer("mlp.c_fc"), Part.DOWN, Names.layer("mlp.c_proj"));
}
