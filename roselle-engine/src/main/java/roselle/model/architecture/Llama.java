package roselle.model.architecture;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.Blueprint;

/** Llama 1 to 3 and all who share their shape; as GGUF also Mistral and Mixtral. */
final class Llama implements Architecture {
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
        var draft = Draft.of(config, Sizes.of(config));
        draft.rmsNorm(config, 0f);
        draft.rope(config, 10_000, config.isGguf());
        boolean bias =
                config.isGguf() ? config.hasTensor("blk.0.attn_q.bias") : config.flag("attention_bias", "", false);
        draft.projectionBias = bias;
        draft.attentionOutputBias = config.isGguf() ? config.hasTensor("blk.0.attn_output.bias") : bias;
        boolean innerBias =
                config.isGguf() ? config.hasTensor("blk.0.ffn_down.bias") : config.flag("mlp_bias", "", false);
        draft.gated(config, "hidden_act", Activation.SILU, innerBias);
        draft.windows(config, config.integer("", "attention.sliding_window", 0), layer -> true); // Mistral's
        if (config.integer("", "expert_count", 0) > 0) {
            Arrays.fill(draft.feedForwards, Mixture.of(config, draft.sizes.inner(), true));
        }
        return new Blueprint(draft.spec(), Names.of(config, Map.of()));
    }
}
