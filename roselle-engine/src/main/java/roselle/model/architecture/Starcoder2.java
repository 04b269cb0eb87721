package roselle.model.architecture;

import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.Blueprint;
import roselle.model.OutputSpec;
import roselle.model.Part;

/** StarCoder 2: layer norms, biases everywhere, a plain feed-forward. */
final class Starcoder2 implements Architecture {
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
        var draft = Draft.of(config, Sizes.of(config));
        draft.layerNorm(config, "norm_epsilon", true);
        draft.rope(config, 10_000, false);
        boolean bias = config.flag("use_bias", "", true);
        draft.projectionBias = bias;
        draft.attentionOutputBias = bias;
        draft.windows(config, config.integer("sliding_window", "attention.sliding_window", 0), layer -> true);
        draft.plain(config, "hidden_act", Activation.GELU_TANH, bias);
        draft.output = new OutputSpec(Draft.isTied(config, true), false, 1f, 0f);
        return new Blueprint(draft.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES =
            Map.of(Part.UP, Names.layer("mlp.c_fc"), Part.DOWN, Names.layer("mlp.c_proj"));
}
