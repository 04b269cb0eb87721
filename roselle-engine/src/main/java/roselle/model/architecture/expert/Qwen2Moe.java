package roselle.model.architecture.expert;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.architecture.llama.Qwen;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Qwen 2 with experts, one of them shared and gated. */
public final class Qwen2Moe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen2_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen2moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = config.flag("qkv_bias", "", true);
        Qwen.windows(config, builder);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        int shared = config.size("shared_expert_intermediate_size", "expert_shared_feed_forward_length", 1 << 24);
        boolean normalizes = config.flag("norm_topk_prob", "", false);
        Qwen.experts(
                config,
                builder,
                Mixture.of(config, Qwen.expertSize(config), normalizes).withShared(shared, true));
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.SHARED_GATE, Names.layer("mlp.shared_expert.gate_proj"),
            Part.SHARED_UP, Names.layer("mlp.shared_expert.up_proj"),
            Part.SHARED_DOWN, Names.layer("mlp.shared_expert.down_proj"),
            Part.SHARED_EXPERT_GATE, Names.layer("mlp.shared_expert_gate"));
}
