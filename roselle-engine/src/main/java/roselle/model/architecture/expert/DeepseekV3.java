package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** DeepSeek V3, and GLM 4.7 Flash of the same shape: latent attention, and experts chosen by groups with a correction. */
public final class DeepseekV3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("deepseek_v3", "glm4_moe_lite");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("deepseek2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        config.requireOff("attention_bias");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        FeedForwardSpec.Experts experts = experts(config);
        behindDense(config, builder, experts);
        var attentions = new AttentionSpec[builder.sizes.layers()];
        Arrays.fill(attentions, attention(config, builder));
        return new Blueprint(builder.spec(attentions), Names.of(config, NAMES));
    }

    /** Experts in the layers that are said to be sparse, or in all behind the first few. */
    static void behindDense(ModelConfig config, SpecBuilder builder, FeedForwardSpec.Experts experts) {
        int layers = builder.feedForwards.length;
        int dense = config.sizeOrNone("first_k_dense_replace", "leading_dense_block_count", MOST);
        List<String> types =
                !config.isGguf() && config.has("mlp_layer_types", "") ? config.strings("mlp_layer_types") : List.of();
        if (!types.isEmpty() && types.size() != layers) {
            throw config.unsupported("mlp_layer_types", types.size() + " names", "one for each layer");
        }
        for (int layer = 0; layer < layers; layer++) {
            if (types.isEmpty() ? layer >= dense : isSparse(config, types.get(layer))) {
                builder.feedForwards[layer] = experts;
            }
        }
    }

    private static boolean isSparse(ModelConfig config, String type) {
        return switch (type) {
            case "sparse" -> true;
            case "dense" -> false;
            default -> throw config.unsupported("mlp_layer_types", type, "dense or sparse");
        };
    }

    private static final int MOST = 1 << 24;
    static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.QUERY_DOWN, Names.layer("self_attn.q_a_proj")),
            entry(Part.QUERY_DOWN_NORM, Names.layer("self_attn.q_a_layernorm")),
            entry(Part.QUERY_UP, Names.layer("self_attn.q_b_proj")),
            entry(Part.LATENT_DOWN, Names.layer("self_attn.kv_a_proj_with_mqa")),
            entry(Part.LATENT_NORM, Names.layer("self_attn.kv_a_layernorm")),
            entry(Part.LATENT_UP, Names.layer("self_attn.kv_b_proj")),
            entry(Part.ROUTER_CORRECTION, Names.layer("mlp.gate.e_score_correction_bias")),
            entry(Part.SHARED_GATE, Names.layer("mlp.shared_experts.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("mlp.shared_experts.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("mlp.shared_experts.down_proj")));

    private static AttentionSpec.Latent attention(ModelConfig config, SpecBuilder builder) {
        int rank = config.size("kv_lora_rank", "attention.kv_lora_rank", MOST);
        int queryRank = config.sizeOrNone("q_lora_rank", "attention.q_lora_rank", MOST);
        int turned = config.size("qk_rope_head_dim", "rope.dimension_count", MOST);
        boolean compact = config.has("", "attention.key_length_mla");
        int keySize = config.integer("qk_head_dim", compact ? "attention.key_length_mla" : "attention.key_length", 0);
        int plainSize = config.isGguf() ? keySize - turned : config.size("qk_nope_head_dim", "", MOST);
        int valueSize =
                config.size("v_head_dim", compact ? "attention.value_length_mla" : "attention.value_length", MOST);
        if (plainSize < 1) {
            throw config.unsupported("key_length", Integer.toString(keySize), "more than the rotated part");
        }
        boolean interleaved = config.flag("rope_interleave", "", true);
        var ropes = new Ropes(config, turned, builder.sizes.context(), 10_000, interleaved);
        float scale = (float) (ropes.scoreFactor() / Math.sqrt(plainSize + turned));
        return new AttentionSpec.Latent(
                builder.sizes.heads(), queryRank, rank, plainSize, valueSize, ropes.read(), scale, 1e-6f);
    }

    /** Experts with sigmoids, chosen by groups with a correction, and some that all tokens share. */
    static FeedForwardSpec.Experts experts(ModelConfig config) {
        requireKnownRouting(config);
        String field = config.has("n_routed_experts", "") ? "n_routed_experts" : "num_local_experts";
        int experts = config.size(field, "expert_count", MOST);
        int size = config.size("moe_intermediate_size", "expert_feed_forward_length", MOST);
        int shared = config.sizeOrNone("n_shared_experts", "expert_shared_count", MOST / size);
        int groups = config.size("n_group", "expert_group_count", MOST, 1);
        return new FeedForwardSpec.Experts(
                experts,
                Mixture.chosen(config, experts),
                size,
                Gate.of(config.activation("hidden_act", Activation.SILU)),
                Router.Scoring.SIGMOID,
                config.flag("norm_topk_prob", "expert_weights_norm", true),
                groups,
                config.size("topk_group", "expert_group_used_count", groups, groups),
                true,
                (float) config.number("routed_scaling_factor", "expert_weights_scale", 1),
                false,
                shared * size,
                false);
    }

    private static void requireKnownRouting(ModelConfig config) {
        String scoring = config.string("scoring_func", "", "sigmoid");
        String method = config.string("topk_method", "", "noaux_tc");
        int function = config.integer("", "expert_gating_func", 2);
        if (!scoring.equals("sigmoid") || function != 2) {
            throw config.unsupported("scoring_func", config.isGguf() ? "" + function : scoring, "sigmoid");
        }
        if (!method.equals("noaux_tc")) {
            throw config.unsupported("topk_method", method, "noaux_tc");
        }
        if (config.integer("moe_layer_freq", "", 1) != 1) {
            throw config.unsupported("moe_layer_freq", "more than 1", "1");
        }
    }
}
