package roselle.model.architecture.expert;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Hunyuan 3: queries and keys normalised by heads, experts with sigmoids, a correction and a shared one. */
public final class HyV3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("hy_v3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        config.requireOff("attention_bias", "mlp_bias");
        config.pass("enable_moe_fp32_combine"); // how precisely two halves are added
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.ROUTER, Names.layer("mlp.router.gate"),
            Part.ROUTER_CORRECTION, Names.layer("mlp.expert_bias"),
            Part.SHARED_GATE, Names.layer("mlp.shared_mlp.gate_proj"),
            Part.SHARED_UP, Names.layer("mlp.shared_mlp.up_proj"),
            Part.SHARED_DOWN, Names.layer("mlp.shared_mlp.down_proj"));
}
