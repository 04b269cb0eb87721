package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** GLM 4.5 to 4.7: half of each head rotated, and experts chosen with a correction behind the first few layers. */
public final class Glm4Moe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("glm4_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("glm4moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(
                config, Sizes.of(config).withoutLayers(config.sizeOrNone("", "nextn_predict_layers", MOST_PREDICTING)));
        builder.rmsNorm(config, 0f);
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), 10_000, false, 0.5);
        Arrays.fill(builder.ropes, ropes.read());
        builder.queryKeyNorm = config.flagOrTensor("use_qk_norm", "blk.0.attn_q_norm.weight", false)
                ? QueryKeyNorm.PER_HEAD
                : QueryKeyNorm.NONE;
        builder.projectionBias = config.flagOrTensor("attention_bias", "blk.0.attn_q.bias", false);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(
                builder.spec(),
                config.isGguf()
                        ? Names.gguf().with(GGUF_NAMES)
                        : Names.huggingFace().with(DeepseekV3.NAMES));
    }

    private static final int MOST_PREDICTING = 64;
    private static final Map<Part, String> GGUF_NAMES =
            Map.of(Part.FEED_FORWARD_NORM, "blk.{layer}.post_attention_norm");
}
