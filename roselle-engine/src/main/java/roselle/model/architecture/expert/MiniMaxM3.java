package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
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
import roselle.model.spec.IndexSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * MiniMax M3, text only: each head of keys attends to the blocks of positions that a head of an index chooses, norms of heads whose
 * weights are distances from 1, part of each head turned, experts with sigmoids and bounded gates.
 */
public final class MiniMaxM3 implements Architecture {
    private static final int MOST = 1 << 24;
    private static final String SPARSE = "sparse_attention_config";

    @Override
    public Set<String> modelTypes() {
        return Set.of("minimax_m3_vl", "minimax_m3_vl_text");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        if (text == config && config.family().equals("minimax_m3_vl")) {
            throw config.unsupported("text_config", "absent", "the decoder's configuration");
        }
        config.pass("vision_config", "projector_hidden_size", "image_token_index", "video_token_index");
        config.pass(
                "merged_hidden_size",
                "image_seq_length",
                "multimodal_projector_bias",
                "projector_hidden_act",
                "vision_feature_layer");
        var builder = SpecBuilder.of(text, Sizes.of(text));
        builder.rmsNorm(text, 1f);
        boolean isTied = SpecBuilder.isTied(config, SpecBuilder.isTied(text, false));
        builder.output = new OutputSpec(isTied, false, 1f, 0f);
        requireKnown(text);
        int headSize = builder.sizes.headSize();
        double share = (double) text.size("rotary_dim", "", headSize, headSize) / headSize;
        RopeSpec rope = new Ropes(text, headSize, builder.sizes.context(), 5_000_000, false, share).read();
        Arrays.fill(builder.ropes, rope);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        feedForwards(text, builder);
        AttentionSpec.MultiHead[] heads = builder.heads();
        boolean[] sparse = sparse(text, heads.length);
        for (int layer = 0; layer < heads.length; layer++) {
            if (sparse[layer]) {
                heads[layer] = heads[layer].with(heads[layer].traits().withIndex(index(text, rope)));
            }
        }
        return new Blueprint(builder.spec(heads), names(config, text));
    }

    private static IndexSpec index(ModelConfig text, RopeSpec rope) {
        int block = indexSize(text, "index_block_size", "sparse_block_size", 128);
        int blocks = indexSize(text, "index_topk_blocks", "sparse_topk_blocks", 16);
        int size = indexSize(text, "index_head_dim", "sparse_index_dim", 128);
        int local = indexSize(text, "index_local_blocks", "sparse_local_block", 1);
        if ((long) block * blocks > MOST || local < 1 || local > blocks) {
            throw text.unsupported(
                    "index_topk_blocks", blocks + " of " + block + ", " + local + " of them local", "fewer");
        }
        return new IndexSpec(
                indexSize(text, "index_n_heads", "sparse_num_index_heads", 4),
                size,
                block,
                local,
                block * blocks,
                rope,
                1e-6f,
                true);
    }

    /** A size under its name of transformers, or as published configurations have it in a part of their own. */
    private static int indexSize(ModelConfig text, String field, String published, int assumed) {
        Metadata part = text.object(SPARSE).orElse(text.metadata());
        boolean isPublished = part.has(published);
        int size = isPublished ? part.integer(published) : text.integer(field, "", assumed);
        if (size < 1 || size > MOST) {
            throw text.unsupported(isPublished ? published : field, Integer.toString(size), "1 to " + MOST);
        }
        return size;
    }

    /** Whether each layer attends to chosen blocks. */
    private static boolean[] sparse(ModelConfig text, int layers) {
        var sparse = new boolean[layers];
        Optional<Metadata> part = text.object(SPARSE);
        if (!text.has("layer_types", "")) {
            int[] flags = part.filter(one -> one.has("sparse_attention_freq"))
                    .map(one -> one.integers("sparse_attention_freq"))
                    .orElseGet(() -> new int[layers]);
            requireEach(text, "sparse_attention_freq", flags.length, layers);
            for (int layer = 0; layer < layers; layer++) {
                sparse[layer] = flags[layer] != 0;
            }
            return sparse;
        }
        List<String> types = text.strings("layer_types");
        requireEach(text, "layer_types", types.size(), layers);
        for (int layer = 0; layer < layers; layer++) {
            sparse[layer] = is(text, "layer_types", types.get(layer), "minimax_m3_sparse", "full_attention");
        }
        return sparse;
    }

    private static void requireEach(ModelConfig text, String field, int count, int layers) {
        if (count != layers) {
            throw text.unsupported(field, count + " entries", "one for each layer");
        }
    }

    private static boolean is(ModelConfig text, String field, String type, String wanted, String other) {
        if (!type.equals(wanted) && !type.equals(other)) {
            throw text.unsupported(field, type, wanted + " or " + other);
        }
        return type.equals(wanted);
    }

    private static void feedForwards(ModelConfig text, SpecBuilder builder) {
        int layers = builder.feedForwards.length;
        var gate = new Gate(Activation.GELU_QUICK, (float) text.number("swiglu_limit", "", 7), 1f);
        int dense = text.size("dense_intermediate_size", "", MOST, builder.sizes.inner());
        Arrays.fill(builder.feedForwards, experts(text, builder.sizes.inner(), gate));
        boolean named = text.has("mlp_layer_types", "");
        List<String> types = named ? text.strings("mlp_layer_types") : List.of();
        int[] flags = !named && text.has("moe_layer_freq", "") ? text.integers("moe_layer_freq", "") : new int[0];
        for (int layer = 0; layer < layers && (named || flags.length > 0); layer++) {
            requireEach(text, "mlp_layer_types", named ? types.size() : flags.length, layers);
            boolean isSparse =
                    named ? is(text, "mlp_layer_types", types.get(layer), "sparse", "dense") : flags[layer] != 0;
            if (!isSparse) {
                builder.feedForwards[layer] = new FeedForwardSpec.Gated(dense, gate, false);
            }
        }
    }

    private static FeedForwardSpec.Experts experts(ModelConfig text, int size, Gate gate) {
        int experts = text.size("num_local_experts", "", MOST);
        return new FeedForwardSpec.Experts(
                experts,
                text.size("num_experts_per_tok", "", experts),
                size,
                gate,
                Router.Scoring.SIGMOID,
                true,
                1,
                1,
                true,
                (float) text.number("routed_scaling_factor", "", 2),
                false,
                Math.multiplyExact(
                        text.size("shared_intermediate_size", "", MOST, size),
                        text.size("n_shared_experts", "", 1 << 6, 1)),
                false);
    }

    /** Refuses what configurations spell out and no published one has otherwise. */
    private static void requireKnown(ModelConfig text) {
        String activation = text.string("hidden_act", "", "silu");
        if (!Set.of("silu", "swigluoai").contains(activation)) {
            throw text.unsupported("hidden_act", activation, "silu or swigluoai");
        }
        if (text.number("swiglu_alpha", "", 1.702) != 1.702) {
            throw text.unsupported("swiglu_alpha", Double.toString(text.number("swiglu_alpha", "", 0)), "1.702");
        }
        text.requireWord("scoring_func", "sigmoid");
        text.requireWord("qk_norm_type", "per_head");
        text.requireOn("use_qk_norm", "use_routing_bias", "use_gemma_norm");
        text.pass("use_mtp", "num_mtp_modules", "mtp_transformer_layers");
    }

    private static WeightNames names(ModelConfig config, ModelConfig text) {
        boolean isPublished = config.hasTensorEnding(".self_attn.index_q_proj.weight");
        WeightNames names = Names.huggingFace().with(isPublished ? PUBLISHED : NAMES);
        return text == config ? names : Names.wrapped(config, names);
    }

    private static final String INDEXER = "self_attn.indexer.";
    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.INDEX_QUERY, Names.layer(INDEXER + "q_proj")),
            entry(Part.INDEX_QUERY_NORM, Names.layer(INDEXER + "q_norm")),
            entry(Part.INDEX_KEY, Names.layer(INDEXER + "k_proj")),
            entry(Part.INDEX_KEY_NORM, Names.layer(INDEXER + "k_norm")),
            entry(Part.GATE_UP, Names.layer("mlp.gate_up_proj")),
            entry(Part.ROUTER_CORRECTION, Names.layer("mlp.gate.e_score_correction_bias")),
            entry(Part.EXPERT_GATE_UP, Names.layer("mlp.experts.gate_up_proj")),
            entry(Part.EXPERT_DOWN, Names.layer("mlp.experts.down_proj")),
            entry(Part.SHARED_GATE_UP, Names.layer("mlp.shared_experts.gate_up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("mlp.shared_experts.down_proj")));

    private static final String EXPERT = Names.layer("block_sparse_moe.experts.{expert}.");
    private static final String SHARED = Names.layer("block_sparse_moe.shared_experts.");
    private static final Map<Part, String> PUBLISHED = Map.ofEntries(
            entry(Part.INDEX_QUERY, Names.layer("self_attn.index_q_proj")),
            entry(Part.INDEX_QUERY_NORM, Names.layer("self_attn.index_q_norm")),
            entry(Part.INDEX_KEY, Names.layer("self_attn.index_k_proj")),
            entry(Part.INDEX_KEY_NORM, Names.layer("self_attn.index_k_norm")),
            entry(Part.ROUTER, Names.layer("block_sparse_moe.gate")),
            entry(Part.ROUTER_CORRECTION, Names.layer("block_sparse_moe.e_score_correction_bias")),
            entry(Part.EXPERT_GATE, EXPERT + "w1"),
            entry(Part.EXPERT_UP, EXPERT + "w3"),
            entry(Part.EXPERT_DOWN, EXPERT + "w2"),
            entry(Part.SHARED_GATE, SHARED + "gate_proj"),
            entry(Part.SHARED_UP, SHARED + "up_proj"),
            entry(Part.SHARED_DOWN, SHARED + "down_proj"));
}
