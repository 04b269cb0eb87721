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

/** GLM 4 (0414): norms on both sides of each half, neighbours in half of each head rotated. */
public final class Glm4 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("glm4");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("glm4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(true, true, false, false, 1f);
        builder.rope(config, 10_000, true);
        builder.projectionBias =
                config.isGguf() ? config.hasTensor("blk.0.attn_q.bias") : config.flag("attention_bias", "", true);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(
                builder.spec(),
                config.isGguf()
                        ? Names.ggufWithFusedGate()
                        : Names.huggingFace().with(NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.POST_ATTENTION_NORM, Names.layer("post_self_attn_layernorm"),
            Part.FEED_FORWARD_NORM, Names.layer("post_attention_layernorm"),
            Part.POST_FEED_FORWARD_NORM, Names.layer("post_mlp_layernorm"),
            Part.GATE_UP, Names.layer("mlp.gate_up_proj"));
}
