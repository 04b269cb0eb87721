package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/** Arcee's AFM: Llama with a plain feed-forward of squared ReLU. */
public final class Arcee implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("arcee");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("arcee");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, config.isGguf());
        builder.projectionBias = config.flagOrTensor("attention_bias", "blk.0.attn_q.bias", false);
        builder.attentionOutputBias = config.flagOrTensor("attention_bias", "blk.0.attn_output.bias", false);
        boolean innerBias = config.flagOrTensor("mlp_bias", "blk.0.ffn_down.bias", false);
        builder.plain(config, "hidden_act", Activation.RELU_SQUARED, innerBias);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
