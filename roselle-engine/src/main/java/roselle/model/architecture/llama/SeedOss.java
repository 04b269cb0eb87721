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
import roselle.model.weights.Part;

/** Seed-OSS: Llama with biases on queries, keys and values. */
public final class SeedOss implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("seed_oss");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("seed_oss");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = config.flagOrTensor("attention_bias", "blk.0.attn_q.bias", true);
        builder.attentionOutputBias = config.flagOrTensor("attention_out_bias", "blk.0.attn_output.bias", false);
        boolean innerBias = config.flagOrTensor("mlp_bias", "blk.0.ffn_down.bias", false);
        builder.gated(config, "hidden_act", Activation.SILU, innerBias);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf().with(GGUF_NAMES) : Names.huggingFace());
    }

    private static final Map<Part, String> GGUF_NAMES =
            Map.of(Part.FEED_FORWARD_NORM, "blk.{layer}.post_attention_norm");
}
