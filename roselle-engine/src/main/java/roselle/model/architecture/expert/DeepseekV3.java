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
import roselle.model.weights.WeightNames;

/**
 * DeepSeek V3, and GLM 4.7 Flash of the same shape: latent attention, and experts chosen by groups with a correction; DeepSeek V2
 * and Mistral 4, whose scores are softmaxes without one.
 */
public final class DeepseekV3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("deepseek_v2", "deepseek_v3", "glm4_moe_lite", "mistral4");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("deepseek2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        config.requireOff("attention_bias", "mlp_bias");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        FeedForwardSpec.Experts experts = experts(config);
        behindDense(config, builder, experts);
        var attentions = new AttentionSpec[builder.sizes.layers()];
        Arrays.fill(attentions, attention(config, builder));
        return new Blueprint(builder.spec(attentions), names(config));
    }

    /** Experts one by one or in stacks, as a checkpoint has them. */
    public static WeightNames names(ModelConfig config) {
        WeightNames names = Names.of(config, NAMES);
        boolean isStacked = config.hasTensorEnding(".mlp.experts.gate_up_proj");
        return isStacked ? names.with(STACKS) : names;
    }

    private static final Map<Part, String> STACKS = Map.of(
            Part.EXPERT_GATE_UP, Names.layer("mlp.experts.gate_up_proj"),
            Part.EXPERT_DOWN, Names.layer("mlp.experts.down_proj"));

    /** Experts in the layers that are said to be sparse, or in all behind the first few. */
    public static void behindDense(ModelConfig config, SpecBuilder builder, FeedForwardSpec.Experts experts) {
        int layers = builder.feedForwards.length;
        String first = said(config, "first_k_dense_replace", "num_dense_layers");
        int dense = config.sizeOrNone(first, "leading_dense_block_count", MOST);
        List<String> types =
                !config.isGguf() && config.has("mlp_layer_types", "") ? config.strings("mlp_layer_types") : List.of();
        if (!types.isEmpty() && types.size() != layers) {
            throw config.unsupported("mlp_layer_types", types.size() + " names", "one for each layer");
        }
        boolean says = config.has("", "leading_dense_block_count");
        boolean listed = !config.isGguf() && config.has("moe_layer_freq", "");
        int[] sparse = listed ? config.integers("moe_layer_freq", "") : new int[0];
        for (int layer = 0; layer < layers && sparse.length > 1; layer++) {
            if (layer < sparse.length && sparse[layer] == 1) {
                builder.feedForwards[layer] = experts;
            }
        }
        for (int layer = 0; layer < layers && sparse.length <= 1; layer++) {
            boolean isBehind = (says || !config.isGguf())
                    ? layer >= dense
                    : config.hasTensor("blk." + layer + ".ffn_gate_inp.weight");
            if (types.isEmpty() ? isBehind : isSparse(config, types.get(layer))) {
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

    /** Latent attention. */
    public static AttentionSpec.Latent attention(ModelConfig config, SpecBuilder builder) {
        return attention(config, builder, true);
    }

    /** The same, with neighbours turned together or halves where the configuration does not say it. */
    static AttentionSpec.Latent attention(ModelConfig config, SpecBuilder builder, boolean assumesNeighbours) {
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
        boolean interleaved = config.flag("rope_interleave", "", assumesNeighbours);
        boolean isMistral = config.family().equals("mistral4"); // its part that turns is told as one of a head
        int head = isMistral && !config.isGguf() ? plainSize + turned : turned;
        var ropes = new Ropes(config, head, builder.sizes.context(), 10_000, interleaved, (double) turned / head);
        float scale = (float) (ropes.scoreFactor() / Math.sqrt(plainSize + turned));
        return new AttentionSpec.Latent(
                builder.sizes.heads(),
                queryRank,
                rank,
                plainSize,
                valueSize,
                ropes.read(),
                scale,
                1e-6f,
                ropes.queryScale());
    }

    /** Experts with sigmoids, chosen by groups with a correction, and some that all tokens share. */
    public static FeedForwardSpec.Experts experts(ModelConfig config) {
        return experts(config, "hidden_act", Activation.SILU);
    }

    /** The same with an activation under a name of its own. */
    public static FeedForwardSpec.Experts experts(ModelConfig config, String activation, Activation assumed) {
        boolean isSoft = isSoft(config);
        String field = said(config, "n_routed_experts", "num_experts", "num_local_experts");
        int experts = config.size(field, "expert_count", MOST);
        int size = config.size("moe_intermediate_size", "expert_feed_forward_length", MOST);
        int shared = config.sizeOrNone(
                said(config, "n_shared_experts", "num_shared_experts"), "expert_shared_count", MOST / size);
        int groups = config.size(said(config, "n_group", "num_expert_group"), "expert_group_count", MOST, 1);
        boolean normalizes = !config.family().equals("deepseek_v2"); // whatever it says, as transformers has it
        return new FeedForwardSpec.Experts(
                experts,
                Mixture.chosen(config, experts),
                size,
                Gate.of(config.activation(activation, assumed)),
                isSoft ? Router.Scoring.SOFTMAX : Router.Scoring.SIGMOID,
                config.flag(
                                said(config, "norm_topk_prob", "moe_renormalize"),
                                "expert_weights_norm",
                                !isSoft || !config.isGguf())
                        && normalizes,
                groups,
                config.size("topk_group", "expert_group_used_count", groups, groups),
                !isSoft,
                (float) config.number(
                        said(config, "routed_scaling_factor", "router_scaling_factor", "route_scale"),
                        "expert_weights_scale",
                        1),
                false,
                sharedSize(config, shared * size),
                false);
    }

    /** Inner numbers of the shared expert, which some files say beside how many there are. */
    private static int sharedSize(ModelConfig config, int assumed) {
        String key = "expert_shared_feed_forward_length";
        return config.has("", key) ? config.size("", key, MOST) : assumed;
    }

    /** The one of some names that a configuration has, else the first. */
    private static String said(ModelConfig config, String... names) {
        return Arrays.stream(names)
                .filter(name -> config.has(name, ""))
                .findFirst()
                .orElse(names[0]);
    }

    private static final Set<String> SOFT = Set.of("deepseek_v2", "mistral4");

    /** Whether scores are softmaxes, and choices those of the best of them. */
    private static boolean isSoft(ModelConfig config) {
        boolean corrects = config.hasTensorEnding(".exp_probs_b.bias"); // files of DeepSeek V2 say nothing else
        boolean assumed = config.isGguf() ? !corrects : SOFT.contains(config.family());
        String scoring = config.string("scoring_func", "", assumed ? "softmax" : "sigmoid");
        int function = config.integer("", "expert_gating_func", assumed ? 1 : 2);
        boolean isSoft = config.isGguf() ? function == 1 : scoring.equals("softmax");
        if (!isSoft && (config.isGguf() ? function != 2 : !scoring.equals("sigmoid"))) {
            throw config.unsupported("scoring_func", config.isGguf() ? "" + function : scoring, "sigmoid or softmax");
        }
        String known = isSoft ? "greedy" : "noaux_tc";
        String method = config.string("topk_method", "", known);
        boolean isAlone = method.equals("group_limited_greedy") && config.integer("n_group", "", 1) == 1;
        if (!method.equals(known) && !(isSoft && isAlone)) {
            throw config.unsupported("topk_method", method, known);
        }
        requireEachLayer(config);
        return isSoft;
    }

    private static void requireEachLayer(ModelConfig config) {
        if (!config.isGguf() && config.has("moe_layer_freq", "") && config.integers("moe_layer_freq", "").length > 1) {
            return; // a list of them, see behindDense
        }
        if (config.integer("moe_layer_freq", "", 1) != 1) {
            throw config.unsupported("moe_layer_freq", "more than 1", "1");
        }
    }
}
