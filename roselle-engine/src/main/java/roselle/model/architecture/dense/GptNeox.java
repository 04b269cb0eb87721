package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** GPT-NeoX and Pythia: attention and feed-forward side by side, each behind a layer norm of its own. */
public final class GptNeox implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt_neox");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gptneox");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        boolean parallel = config.flag("use_parallel_residual", "use_parallel_residual", true);
        builder.block = new BlockSpec(true, false, parallel, false, 1f);
        builder.rope(config, 10_000, false);
        boolean bias = config.flag("attention_bias", "", true);
        config.requireOff("is_decoder");
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        builder.plain(config, "hidden_act", Activation.GELU, true);
        return new Blueprint(builder.spec(), Names.of(config, NAMES).with(layout(config)));
    }

    private static final String LAYER = "gpt_neox.layers.{layer}.";
    private static final Map<Part, String> NAMES = Map.of(
            Part.EMBEDDING, "gpt_neox.embed_in",
            Part.FINAL_NORM, "gpt_neox.final_layer_norm",
            Part.OUTPUT, "embed_out",
            Part.ATTENTION_NORM, LAYER + "input_layernorm",
            Part.FEED_FORWARD_NORM, LAYER + "post_attention_layernorm",
            Part.QUERY_KEY_VALUE, LAYER + "attention.query_key_value",
            Part.ATTENTION_OUTPUT, LAYER + "attention.dense",
            Part.UP, LAYER + "mlp.dense_h_to_4h",
            Part.DOWN, LAYER + "mlp.dense_4h_to_h");

    private static WeightNames.Layout layout(ModelConfig config) {
        return config.isGguf() ? WeightNames.Layout.PLAIN : WeightNames.Layout.PER_HEAD;
    }
}
