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
import roselle.model.weights.WeightNames;

/** GPT-2: learned positions, layer norms, and matrices stored the other way round. */
public final class Gpt2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gpt2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.ofGpt2(config));
        builder.layerNorm(config, "layer_norm_epsilon", true);
        builder.learnedPositions = true;
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        config.requireOff("scale_attn_by_inverse_layer_idx");
        builder.scoreScale = config.flag("scale_attn_weights", "", true) ? builder.scoreScale : 1f;
        builder.plain(config, "activation_function", Activation.GELU_TANH, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : names(config));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("wte.weight") ? "" : "transformer.";
        String layer = prefix + "h.{layer}.";
        return Names.huggingFace()
                .with(Map.of(
                        Part.EMBEDDING, prefix + "wte",
                        Part.POSITIONS, prefix + "wpe",
                        Part.FINAL_NORM, prefix + "ln_f",
                        Part.ATTENTION_NORM, layer + "ln_1",
                        Part.FEED_FORWARD_NORM, layer + "ln_2",
                        Part.QUERY_KEY_VALUE, layer + "attn.c_attn",
                        Part.ATTENTION_OUTPUT, layer + "attn.c_proj",
                        Part.UP, layer + "mlp.c_fc",
                        Part.DOWN, layer + "mlp.c_proj"))
                .with(WeightNames.Layout.TRANSPOSED);
    }
}
