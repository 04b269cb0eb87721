package roselle.model.architecture.expert;

import java.util.Arrays;
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

/** GLM 4.5 to 4.7: half of each head rotated, and experts chosen with a correction behind the first few layers. */
public final class Glm4Moe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("glm4_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), 10_000, false, 0.5);
        Arrays.fill(builder.ropes, ropes.read());
        builder.queryKeyNorm = config.flag("use_qk_norm", "", false) ? QueryKeyNorm.PER_HEAD : QueryKeyNorm.NONE;
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(builder.spec(), Names.huggingFace().with(DeepseekV3.NAMES));
    }
}
