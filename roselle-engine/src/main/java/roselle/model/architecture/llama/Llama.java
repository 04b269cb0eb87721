package roselle.model.architecture.llama;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/** Llama 1 to 3 and all who share their shape; as GGUF also Mistral and Mixtral. */
public final class Llama implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("llama");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("llama");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, config.isGguf());
        boolean bias =
                config.isGguf() ? config.hasTensor("blk.0.attn_q.bias") : config.flag("attention_bias", "", false);
        builder.projectionBias = bias;
        builder.attentionOutputBias = config.isGguf() ? config.hasTensor("blk.0.attn_output.bias") : bias;
        boolean innerBias =
                config.isGguf() ? config.hasTensor("blk.0.ffn_down.bias") : config.flag("mlp_bias", "", false);
        builder.gated(config, "hidden_act", Activation.SILU, innerBias);
        builder.windows(config, config.window("", "attention.sliding_window"), layer -> true); // Mistral's
        if (config.integer("", "expert_count", 0) > 0) {
            Arrays.fill(builder.feedForwards, Mixture.of(config, builder.sizes.inner(), true));
        }
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
