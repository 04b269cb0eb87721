package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Trinity: gated attention in windows with positions and without windows or positions, norms on both sides of each half, experts with sigmoids. */
public final class Afmoe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("afmoe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("afmoe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        config.requireOff("attention_bias");
        config.requireWord("score_func", "sigmoid");
        config.requireOn("route_norm");
        config.pass("load_balance_coeff", "use_grouped_mm", "num_expert_groups", "num_limited_groups");
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(true, true, false, false, 1f);
        boolean grows = config.isGguf() || config.flag("mup_enabled", "", false);
        builder.embeddingScale = grows ? (float) Math.sqrt(builder.sizes.width()) : 1f;
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated = true;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        int full = config.size("global_attn_every_n_layers", "", 1 << 20, 4);
        int window = config.size("sliding_window", "attention.sliding_window", 1 << 30);
        builder.windows(config, window, layer -> (layer + 1) % full != 0);
        builder.dropPositionsOfFullLayers();
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.ATTENTION_GATE, Names.layer("self_attn.gate_proj")),
            entry(Part.POST_ATTENTION_NORM, Names.layer("post_attention_layernorm")),
            entry(Part.FEED_FORWARD_NORM, Names.layer("pre_mlp_layernorm")),
            entry(Part.POST_FEED_FORWARD_NORM, Names.layer("post_mlp_layernorm")),
            entry(Part.ROUTER, Names.layer("mlp.router.gate")),
            entry(Part.ROUTER_CORRECTION, Names.layer("mlp.expert_bias")),
            entry(Part.SHARED_GATE, Names.layer("mlp.shared_experts.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("mlp.shared_experts.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("mlp.shared_experts.down_proj")));
}
