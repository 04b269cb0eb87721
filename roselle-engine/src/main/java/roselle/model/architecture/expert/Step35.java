package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Router;
import roselle.checkpoint.Metadata;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/**
 * Step 3.5 and the text of 3.7: windows with more heads than layers that see everything, of whose heads a half turns; a gate for each
 * head, experts with sigmoids and a shared one, and bounds of what gates give in some layers.
 */
public final class Step35 implements Architecture {
    private static final int MOST = 1 << 24;
    private static final int MOST_HEADS = 10_000;
    private static final String OTHER_HEADS = "attention_other_setting";
    private static final double SHARE_OF_FULL = 0.5; // of a head, which no GGUF says

    @Override
    public Set<String> modelTypes() {
        return Set.of("step3p5", "step3p7");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("step35");
    }

    @Override
    public Blueprint read(ModelConfig whole) {
        whole.pass(ENCODER);
        ModelConfig config = whole.text();
        requireKnown(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes(config));
        builder.rmsNorm(config, 1f, 1e-5);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated = true;
        builder.traits = builder.traits.withHeadGates();
        windows(config, builder);
        turn(config, builder);
        feedForwards(config, builder);
        return new Blueprint(
                builder.spec(heads(config, builder)),
                whole == config ? Names.of(config, NAMES) : Names.wrapped(whole, Names.of(config, NAMES)));
    }

    private static Sizes sizes(ModelConfig config) {
        int heads = config.isGguf() ? most(config, "attention.head_count") : config.size(HEADS, "", MOST_HEADS);
        int keyHeads = config.isGguf()
                ? most(config, "attention.head_count_kv")
                : config.size(said(config, "num_attention_groups", "num_key_value_heads"), "", MOST_HEADS, heads);
        return Sizes.of(
                config,
                heads,
                keyHeads,
                config.size("intermediate_size", "feed_forward_length", MOST),
                config.size("num_hidden_layers", "block_count", 1_000));
    }

    private static final String HEADS = "num_attention_heads";

    private static int most(ModelConfig config, String key) {
        return Arrays.stream(config.integers("", key)).max().orElse(1);
    }

    private static void windows(ModelConfig config, SpecBuilder builder) {
        int window = config.size("sliding_window", "attention.sliding_window", 1 << 30);
        if (config.isGguf()) {
            builder.windows(config, window, _ -> false);
            return;
        }
        List<String> types = config.has("layer_types", "") ? config.strings("layer_types") : List.of();
        for (int layer = 0; layer < builder.windows.length; layer++) {
            String type = layer < types.size() ? types.get(layer) : "full_attention";
            if (!Set.of("full_attention", "sliding_attention").contains(type)) {
                throw config.unsupported("layer_types", type, "full_attention or sliding_attention");
            }
            builder.windows[layer] = type.equals("sliding_attention") ? window : 0;
        }
    }

    /** Heads of their own numbers, in layers that slide and in those that see everything. */
    private static AttentionSpec[] heads(ModelConfig config, SpecBuilder builder) {
        Optional<Metadata> other = config.object(OTHER_HEADS);
        int sliding = config.size("num_sliding_attention_heads", "", MOST_HEADS, builder.sizes.heads());
        int size = builder.sizes.headSize();
        AttentionSpec.MultiHead[] heads = builder.heads();
        for (int layer = 0; layer < heads.length; layer++) {
            boolean slides = builder.windows[layer] != 0;
            int own = slides ? sliding : builder.sizes.heads();
            int keys = builder.sizes.keyHeads();
            if (config.isGguf()) {
                own = ofLayer(config, "attention.head_count", layer);
                keys = ofLayer(config, "attention.head_count_kv", layer);
            } else if (slides && other.isPresent()) {
                own = other.get().integer(HEADS, own);
                keys = other.get().integer("num_attention_groups", keys);
                if (other.get().integer("head_dim", size) != size) {
                    throw config.unsupported(
                            "head_dim of windows", "" + other.get().integer("head_dim", size), "" + size);
                }
            }
            heads[layer] = heads[layer].with(new HeadShape(own, keys, size, size));
        }
        return heads;
    }

    private static int ofLayer(ModelConfig config, String key, int layer) {
        int[] all = config.integers("", key);
        return all[Math.min(layer, all.length - 1)];
    }

    /** Rotations by layer; what scales them scales those of layers that see everything. */
    private static void turn(ModelConfig config, SpecBuilder builder) {
        int size = builder.sizes.headSize();
        var ropes = new Ropes(config, size, builder.sizes.context(), 10_000, false);
        boolean isNamed = !config.isGguf() && config.object("rope_parameters").isPresent();
        RopeSpec gguf = config.isGguf() ? ropes.read() : null;
        for (int layer = 0; layer < builder.ropes.length; layer++) {
            boolean slides = builder.windows[layer] != 0;
            if (gguf != null && slides) {
                builder.ropes[layer] = ropes.plain(config.number("", "rope.freq_base_swa", gguf.theta()), 1);
            } else if (gguf != null) {
                int dimensions = (int) (gguf.dimensions() * SHARE_OF_FULL);
                builder.ropes[layer] =
                        new RopeSpec(dimensions, gguf.theta(), false, first(gguf.scaling(), dimensions / 2));
            } else if (isNamed) {
                builder.ropes[layer] = ropes.read(slides ? "sliding_attention" : "full_attention");
            } else {
                double share = config.has("partial_rotary_factors", "")
                        ? ofLayer(config, config.numbers("partial_rotary_factors"), layer)
                        : 1;
                double theta =
                        config.has("rope_theta", "") ? ofLayer(config, config.numbers("rope_theta"), layer) : 10_000;
                builder.ropes[layer] = ropes.read(theta, share, !slides);
            }
        }
    }

    /** A file's factors are those of whole heads. */
    private static RopeScaling first(RopeScaling scaling, int pairs) {
        if (!(scaling instanceof RopeScaling.LongRope factors)
                || factors.longFactors().size() <= pairs) {
            return scaling;
        }
        List<Float> first = factors.longFactors().subList(0, pairs);
        return new RopeScaling.LongRope(first, first, factors.trainedContext(), factors.attentionFactor());
    }

    private static float ofLayer(ModelConfig config, float[] all, int layer) {
        if (all.length != 1 && layer >= all.length) {
            throw config.unsupported("a list of layers", all.length + " numbers", "one for each layer");
        }
        return all[all.length == 1 ? 0 : layer];
    }

    private static void feedForwards(ModelConfig config, SpecBuilder builder) {
        FeedForwardSpec.Experts experts = experts(config);
        boolean[] sparse = sparse(config, builder.feedForwards.length);
        float[] bounds = bounds(config, "swiglu_limits", "swiglu_clamp_exp");
        float[] ofShared = bounds(config, "swiglu_limits_shared", "swiglu_clamp_shexp");
        for (int layer = 0; layer < sparse.length; layer++) {
            Gate shared = gate(config, ofShared, layer);
            builder.feedForwards[layer] = sparse[layer]
                    ? experts.with(gate(config, bounds, layer))
                            .with(experts.traits().withSharedGating(shared))
                    : new FeedForwardSpec.Gated(builder.sizes.inner(), shared, false);
        }
    }

    private static float[] bounds(ModelConfig config, String field, String key) {
        return config.has(field, key) ? config.numbers(field, key) : new float[1];
    }

    /** A bound of 0 is none. */
    private static Gate gate(ModelConfig config, float[] bounds, int layer) {
        float bound = ofLayer(config, bounds, layer);
        return bound == 0 ? Gate.of(Activation.SILU) : Gate.ofBoundedSilu(bound);
    }

    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        int experts = config.size(
                said(config, "moe_num_experts", "n_routed_experts", "num_local_experts"), "expert_count", MOST);
        config.requireSigmoids();
        if (!config.flag("norm_expert_weight", "expert_weights_norm", true)) {
            throw config.unsupported("norm_expert_weight", "false", "true");
        }
        return new FeedForwardSpec.Experts(
                experts,
                config.size(said(config, "moe_top_k", "num_experts_per_tok"), "expert_used_count", experts),
                config.size("moe_intermediate_size", "expert_feed_forward_length", MOST),
                Gate.of(Activation.SILU),
                Router.Scoring.SIGMOID,
                true,
                1,
                1,
                true,
                (float) config.number("moe_router_scaling_factor", "expert_weights_scale", 1),
                false,
                config.size(
                        said(config, "share_expert_dim", "share_expert_dims"),
                        "expert_shared_feed_forward_length",
                        MOST),
                false);
    }

    /** Layers with experts: as named, or as a list of numbers says, or all behind the first three. */
    private static boolean[] sparse(ModelConfig config, int layers) {
        var sparse = new boolean[layers];
        Arrays.fill(sparse, Math.min(3, layers), layers, true);
        if (config.isGguf()) {
            config.integer("", "leading_dense_block_count", 0);
            config.integer("", "interleave_moe_layer_step", 1);
            for (int layer = 0; layer < layers; layer++) {
                sparse[layer] = config.hasTensor("blk." + layer + ".ffn_gate_inp.weight");
            }
        } else if (config.has("moe_layers_enum", "")) {
            Arrays.fill(sparse, false);
            for (String number : config.string("moe_layers_enum", "", "").split(",")) {
                int layer = layer(config, number.strip());
                if (layer < layers) { // those behind predict further tokens
                    sparse[layer] = true;
                }
            }
        } else if (config.has("mlp_layer_types", "")) {
            List<String> types = config.strings("mlp_layer_types");
            for (int layer = 0; layer < layers; layer++) {
                sparse[layer] = layer < types.size() && types.get(layer).equals("sparse");
            }
        }
        return sparse;
    }

    private static int layer(ModelConfig config, String number) {
        if (!number.matches("\\d{1,6}")) {
            throw config.unsupported("moe_layers_enum", number, "numbers of layers with commas between them");
        }
        return Integer.parseInt(number);
    }

    private static String said(ModelConfig config, String... names) {
        return Arrays.stream(names)
                .filter(name -> config.has(name, ""))
                .findFirst()
                .orElse(names[0]);
    }

    /** Refuses what configurations spell out and no published one has otherwise. */
    private static void requireKnown(ModelConfig config) {
        config.requireOff("attention_bias", "mlp_bias", "sink", "use_mfa");
        config.requireOn("use_moe", "use_head_wise_attn_gate", "use_moe_router_bias", "zero_centered");
        config.requireWord("hidden_act", "silu");
        config.requireWord("moe_router_activation", "sigmoid");
        config.requireWord("att_impl_type", "GQA");
        if (config.integer("moe_every_n_layer", "moe_every_n_layers", 1) != 1) {
            throw config.unsupported("moe_every_n_layer", "not 1", "1");
        }
        if (config.integer("query_pre_attn_scalar", "", config.integer("head_dim", "", 0))
                != config.integer("head_dim", "", 0)) {
            throw config.unsupported("query_pre_attn_scalar", "not head_dim", "head_dim");
        }
        config.pass(HARMLESS);
    }

    /** Of what says nothing new, and of what predicts further tokens. */
    private static final String[] HARMLESS = {
        "gating",
        "max_seq_len",
        "moe_layer_offset",
        "mtp_layer_types",
        "mtp_mlp_layer_types",
        "need_fp32_gate",
        "per_layer_config",
        "use_qk_norm",
        "use_rope_layers",
        "yarn_only_types"
    };

    /** What reads pictures. */
    private static final String[] ENCODER = {
        "vision_config", "projector_bias", "understand_projector_stride", "vision_select_layer", "tie_word_embeddings"
    };

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.ATTENTION_GATE, Names.layer("self_attn.g_proj")),
            entry(Part.ROUTER, Names.layer("moe.gate")),
            entry(Part.ROUTER_CORRECTION, Names.layer("moe.router_bias")),
            entry(Part.EXPERT_GATE, Names.layer("moe.gate_proj")),
            entry(Part.EXPERT_UP, Names.layer("moe.up_proj")),
            entry(Part.EXPERT_DOWN, Names.layer("moe.down_proj")),
            entry(Part.SHARED_GATE, Names.layer("share_expert.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("share_expert.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("share_expert.down_proj")));
}
