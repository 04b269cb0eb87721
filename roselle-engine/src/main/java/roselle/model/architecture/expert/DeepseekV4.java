package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.checkpoint.Metadata;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.IndexSpec;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * DeepSeek V4: a window of keys, and keys that are made of 4 tokens, some of them chosen, or of 128; four residual streams; experts by
 * the root of a softplus, in the first layers by the token itself.
 */
public final class DeepseekV4 implements Architecture {
    private static final int MOST = 1 << 24;
    /** Tokens of a key among which an index chooses, and which overlaps with the one before it. */
    private static final int CHOSEN = 4;

    @Override
    public Set<String> modelTypes() {
        return Set.of("deepseek_v4");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("deepseek4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        config.requireOff("attention_bias", "mlp_bias");
        config.pass("expert_dtype", "type_vocab_size");
        if (builder.sizes.keyHeads() != 1) {
            throw config.unsupported("num_key_value_heads", Integer.toString(builder.sizes.keyHeads()), "1");
        }
        int streams = config.size("hc_mult", "hyper_connection.count", MOST, 4);
        int all = config.integer("", "embedding_length_out", streams * builder.sizes.width());
        if (all != streams * builder.sizes.width()) {
            throw config.unsupported("embedding_length_out", Integer.toString(all), "that of " + streams + " streams");
        }
        builder.block = BlockSpec.connected(new HyperConnections(
                streams,
                config.size("hc_sinkhorn_iters", "hyper_connection.sinkhorn_iterations", MOST, 20),
                (float) config.number("hc_eps", "hyper_connection.epsilon", 1e-6),
                new Connection.Taken(2f, 0f)));
        feedForwards(config, builder);
        return new Blueprint(builder.spec(attentions(config, builder.sizes)), names(config));
    }

    private static AttentionSpec[] attentions(ModelConfig config, Sizes sizes) {
        int turned = config.size("qk_rope_head_dim", "rope.dimension_count", sizes.headSize());
        RopeSpec plain = main(config, sizes, turned);
        RopeSpec scaled = compressed(config, sizes, turned);
        int[] tokens = tokens(config, sizes.layers());
        var attentions = new AttentionSpec[sizes.layers()];
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = attention(config, sizes, tokens[layer], tokens[layer] == 0 ? plain : scaled);
        }
        return attentions;
    }

    private static AttentionSpec.Compressed attention(ModelConfig config, Sizes sizes, int tokens, RopeSpec rope) {
        float epsilon = (float) config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-6);
        var index = new IndexSpec(
                config.size("index_n_heads", "attention.indexer.head_count", MOST),
                config.size("index_head_dim", "attention.indexer.key_length", MOST),
                1,
                0,
                config.size("index_topk", "attention.indexer.top_k", MOST),
                rope,
                epsilon,
                true);
        return new AttentionSpec.Compressed(
                sizes.heads(),
                sizes.headSize(),
                config.size("q_lora_rank", "attention.q_lora_rank", MOST),
                config.size("sliding_window", "attention.sliding_window", MOST),
                rope,
                epsilon,
                config.size("o_groups", "attention.output_group_count", sizes.heads()),
                config.size("o_lora_rank", "attention.output_lora_rank", MOST),
                tokens,
                tokens == CHOSEN ? index : null);
    }

    /** Of how many tokens keys are made in each layer, as published or as transformers writes it; the rest is of layers for training. */
    private static int[] tokens(ModelConfig config, int layers) {
        if (config.has("compress_ratios", "attention.compress_ratios")) {
            int[] ratios = config.integers("compress_ratios", "attention.compress_ratios");
            if (ratios.length < layers) {
                throw config.unsupported("compress_ratios", ratios.length + " numbers", "one for each layer");
            }
            return ratios;
        }
        List<String> types = config.strings("layer_types");
        if (types.size() != layers) {
            throw config.unsupported("layer_types", types.size() + " names", "one for each layer");
        }
        Metadata rates = config.object("compress_rates").orElse(config.metadata());
        int sparse = rates.integer("compressed_sparse_attention", CHOSEN);
        if (sparse != CHOSEN) {
            throw config.unsupported("compressed_sparse_attention", Integer.toString(sparse), "4");
        }
        int heavy = rates.integer("heavily_compressed_attention", 128);
        return types.stream()
                .mapToInt(type -> switch (type) {
                    case "sliding_attention" -> 0;
                    case "compressed_sparse_attention" -> CHOSEN;
                    case "heavily_compressed_attention" -> heavy;
                    default ->
                        throw config.unsupported(
                                "layer_types",
                                type,
                                "sliding_attention, compressed_sparse_attention or heavily_compressed_attention");
                })
                .toArray();
    }

    private static RopeSpec main(ModelConfig config, Sizes sizes, int turned) {
        var ropes = new Ropes(config, turned, sizes.context(), 10_000, true);
        return ropes.plain(config.number("rope_theta", "rope.freq_base", 10_000), 1);
    }

    /** That of layers with compressed keys: slower, and stretched, without a factor for sines and cosines. */
    private static RopeSpec compressed(ModelConfig config, Sizes sizes, int turned) {
        double theta = config.number("compress_rope_theta", "attention.compress_rope_freq_base", 160_000);
        config.pass("partial_rotary_factor", "rope_parameters");
        return new Ropes(config, turned, sizes.context(), theta, true).stretched("compress", theta);
    }

    private static void feedForwards(ModelConfig config, SpecBuilder builder) {
        config.requireWord("scoring_func", "sqrtsoftplus");
        config.requireWord("topk_method", "noaux_tc");
        int function = config.integer("", "expert_gating_func", ROOT_OF_SOFTPLUS);
        if (function != ROOT_OF_SOFTPLUS) {
            throw config.unsupported("expert_gating_func", Integer.toString(function), "4, the root of a softplus");
        }
        boolean[] given = given(config, builder.feedForwards.length);
        FeedForwardSpec.Experts experts = experts(config, builder.sizes.inner());
        for (int layer = 0; layer < given.length; layer++) {
            builder.feedForwards[layer] = given[layer]
                    ? experts.withoutCorrection().with(FeedForwardSpec.Experts.Traits.NONE.withExpertsOfTokens())
                    : experts;
        }
    }

    private static final int ROOT_OF_SOFTPLUS = 4;

    /** Whether a layer's experts are given by tokens. */
    private static boolean[] given(ModelConfig config, int layers) {
        var given = new boolean[layers];
        boolean named = !config.isGguf() && config.has("mlp_layer_types", "");
        List<String> types = named ? config.strings("mlp_layer_types") : List.of();
        if (named && types.size() != layers) {
            throw config.unsupported("mlp_layer_types", types.size() + " names", "one for each layer");
        }
        int first = config.sizeOrNone("num_hash_layers", "hash_layer_count", MOST);
        for (int layer = 0; layer < layers; layer++) {
            given[layer] = named ? isGiven(config, types.get(layer)) : layer < first;
        }
        return given;
    }

    private static boolean isGiven(ModelConfig config, String type) {
        return switch (type) {
            case "hash_moe" -> true;
            case "moe" -> false;
            default -> throw config.unsupported("mlp_layer_types", type, "hash_moe or moe");
        };
    }

    private static FeedForwardSpec.Experts experts(ModelConfig config, int size) {
        int experts = config.size("n_routed_experts", "expert_count", MOST);
        int shared = config.sizeOrNone("n_shared_experts", "expert_shared_count", MOST / size);
        var gate = new Gate(config.activation("hidden_act", Activation.SILU), limit(config), 0f);
        return new FeedForwardSpec.Experts(
                experts,
                Mixture.chosen(config, experts),
                size,
                gate,
                Router.Scoring.ROOT_OF_SOFTPLUS,
                config.flag("norm_topk_prob", "expert_weights_norm", true),
                1,
                1,
                true,
                (float) config.number("routed_scaling_factor", "expert_weights_scale", 1.5),
                false,
                shared * size,
                false);
    }

    /** The bound of gates; GGUF has one for each layer, of experts and of the shared one, which are all the same. */
    private static float limit(ModelConfig config) {
        if (!config.isGguf()) {
            return (float) config.number("swiglu_limit", "", 10);
        }
        float limit = config.numbers("", "swiglu_clamp_exp")[0];
        for (String key : List.of("swiglu_clamp_exp", "swiglu_clamp_shexp")) {
            for (float one : config.has("", key) ? config.numbers("", key) : new float[0]) {
                if (one != limit) {
                    throw config.unsupported(key, Float.toString(one), limit + " in all layers");
                }
            }
        }
        return limit;
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(GGUF_CONNECTIONS).with(GGUF_NAMES)
                : Names.huggingFace().with(NAMES);
    }

    private static final String LAYER = "layers.{layer}.";
    private static final String EXPERT = LAYER + "ffn.experts.{expert}.";
    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.EMBEDDING, "embed"),
            entry(Part.FINAL_NORM, "norm"),
            entry(Part.OUTPUT, "head"),
            entry(Part.OUTPUT_CONNECTION, "hc_head_fn"),
            entry(Part.OUTPUT_CONNECTION_BIAS, "hc_head_base"),
            entry(Part.OUTPUT_CONNECTION_SCALE, "hc_head_scale"),
            entry(Part.ATTENTION_CONNECTION, LAYER + "hc_attn_fn"),
            entry(Part.ATTENTION_CONNECTION_BIAS, LAYER + "hc_attn_base"),
            entry(Part.ATTENTION_CONNECTION_SCALE, LAYER + "hc_attn_scale"),
            entry(Part.FEED_FORWARD_CONNECTION, LAYER + "hc_ffn_fn"),
            entry(Part.FEED_FORWARD_CONNECTION_BIAS, LAYER + "hc_ffn_base"),
            entry(Part.FEED_FORWARD_CONNECTION_SCALE, LAYER + "hc_ffn_scale"),
            entry(Part.ATTENTION_NORM, LAYER + "attn_norm"),
            entry(Part.FEED_FORWARD_NORM, LAYER + "ffn_norm"),
            entry(Part.QUERY_DOWN, LAYER + "attn.wq_a"),
            entry(Part.QUERY_DOWN_NORM, LAYER + "attn.q_norm"),
            entry(Part.QUERY_UP, LAYER + "attn.wq_b"),
            entry(Part.KEY, LAYER + "attn.wkv"),
            entry(Part.KEY_NORM, LAYER + "attn.kv_norm"),
            entry(Part.SINKS, LAYER + "attn.attn_sink"),
            entry(Part.GROUP_OUTPUT, LAYER + "attn.wo_a"),
            entry(Part.ATTENTION_OUTPUT, LAYER + "attn.wo_b"),
            entry(Part.COMPRESSED_VECTOR, LAYER + "attn.compressor.wkv"),
            entry(Part.COMPRESSED_GATE, LAYER + "attn.compressor.wgate"),
            entry(Part.COMPRESSED_BIAS, LAYER + "attn.compressor.ape"),
            entry(Part.COMPRESSED_NORM, LAYER + "attn.compressor.norm"),
            entry(Part.INDEX_QUERY, LAYER + "attn.indexer.wq_b"),
            entry(Part.INDEX_WEIGHT, LAYER + "attn.indexer.weights_proj"),
            entry(Part.INDEX_COMPRESSED_VECTOR, LAYER + "attn.indexer.compressor.wkv"),
            entry(Part.INDEX_COMPRESSED_GATE, LAYER + "attn.indexer.compressor.wgate"),
            entry(Part.INDEX_COMPRESSED_BIAS, LAYER + "attn.indexer.compressor.ape"),
            entry(Part.INDEX_COMPRESSED_NORM, LAYER + "attn.indexer.compressor.norm"),
            entry(Part.ROUTER, LAYER + "ffn.gate"),
            entry(Part.ROUTER_CORRECTION, LAYER + "ffn.gate.bias"),
            entry(Part.ROUTER_TABLE, LAYER + "ffn.gate.tid2eid"),
            entry(Part.EXPERT_GATE, EXPERT + "w1"),
            entry(Part.EXPERT_DOWN, EXPERT + "w2"),
            entry(Part.EXPERT_UP, EXPERT + "w3"),
            entry(Part.SHARED_GATE, LAYER + "ffn.shared_experts.w1"),
            entry(Part.SHARED_DOWN, LAYER + "ffn.shared_experts.w2"),
            entry(Part.SHARED_UP, LAYER + "ffn.shared_experts.w3"));

    private static final String BLOCK = "blk.{layer}.";
    /** What connects layers to streams. */
    static final Map<Part, String> GGUF_CONNECTIONS = Map.of(
            Part.OUTPUT_CONNECTION, "output_hc_fn",
            Part.OUTPUT_CONNECTION_BIAS, "output_hc_base",
            Part.OUTPUT_CONNECTION_SCALE, "output_hc_scale",
            Part.ATTENTION_CONNECTION, BLOCK + "hc_attn_fn",
            Part.ATTENTION_CONNECTION_BIAS, BLOCK + "hc_attn_base",
            Part.ATTENTION_CONNECTION_SCALE, BLOCK + "hc_attn_scale",
            Part.FEED_FORWARD_CONNECTION, BLOCK + "hc_ffn_fn",
            Part.FEED_FORWARD_CONNECTION_BIAS, BLOCK + "hc_ffn_base",
            Part.FEED_FORWARD_CONNECTION_SCALE, BLOCK + "hc_ffn_scale");

    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.KEY, BLOCK + "attn_kv"),
            entry(Part.KEY_NORM, BLOCK + "attn_kv_a_norm"),
            entry(Part.GROUP_OUTPUT, BLOCK + "attn_output_a"),
            entry(Part.ATTENTION_OUTPUT, BLOCK + "attn_output_b"),
            entry(Part.COMPRESSED_VECTOR, BLOCK + "attn_compressor_kv"),
            entry(Part.COMPRESSED_GATE, BLOCK + "attn_compressor_gate"),
            entry(Part.COMPRESSED_BIAS, BLOCK + "attn_compressor_ape"),
            entry(Part.COMPRESSED_NORM, BLOCK + "attn_compressor_norm"),
            entry(Part.INDEX_COMPRESSED_VECTOR, BLOCK + "indexer_compressor_kv"),
            entry(Part.INDEX_COMPRESSED_GATE, BLOCK + "indexer_compressor_gate"),
            entry(Part.INDEX_COMPRESSED_BIAS, BLOCK + "indexer_compressor_ape"),
            entry(Part.INDEX_COMPRESSED_NORM, BLOCK + "indexer_compressor_norm"),
            entry(Part.ROUTER_TABLE, BLOCK + "ffn_gate_tid2eid"));
}
