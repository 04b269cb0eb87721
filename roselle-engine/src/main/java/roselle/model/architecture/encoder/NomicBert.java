package roselle.model.architecture.encoder;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * Nomic's BERT: rotary positions, gated feed-forwards, no biases but of norms (Nussbaum et al., 2024); and the one with experts in every
 * other layer, which has plain feed-forwards and biases (Nussbaum and Duderstadt, 2025). {@code config.json} is that of transformers, or
 * of the first releases, whose fields are GPT-2's.
 */
public final class NomicBert implements Architecture {
    private static final String LAYER = "encoder.layers.{layer}.";
    private static final Sizes.Fields RELEASED =
            new Sizes.Fields("n_embd", "n_layer", "n_head", "n_inner", "n_positions");
    private static final int INNER_TIMES = 4;
    private static final int MAX_EXPERTS = 1 << 16;

    @Override
    public Set<String> modelTypes() {
        return Set.of("nomic_bert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("nomic-bert", "nomic-bert-moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        return config.has("n_embd", "") || config.family().equals("nomic-bert-moe") ? released(config) : plain(config);
    }

    private static Blueprint plain(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.types = config.isGguf() ? Bert.types(config) : config.size("type_vocab_size", "", 1 << 10, 2);
        builder.rope(config, 1_000, false);
        builder.projectionBias = false;
        builder.attentionOutputBias = false;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(builder.spec(), config.isGguf() ? Bert.ggufNames(Names.gguf()) : names());
    }

    /** As the first releases have it, with experts or not; a GGUF of one with experts has all biases. */
    private static Blueprint released(ModelConfig config) {
        requireKnown(config);
        Sizes sizes = config.isGguf() ? Sizes.of(config) : Sizes.of(config, RELEASED, 0, INNER_TIMES);
        var builder = SpecBuilder.ofEncoder(config, sizes);
        builder.layerNorm(config, "layer_norm_epsilon", true);
        builder.types = config.isGguf() ? Bert.types(config) : config.size("type_vocab_size", "", 1 << 10, 2);
        builder.rope(config, config.isGguf() ? 10_000 : 1_000, false);
        builder.projectionBias = config.flag("qkv_proj_bias", "", true);
        builder.attentionOutputBias = builder.projectionBias;
        boolean bias = config.flag("mlp_fc1_bias", "", true);
        if (bias != config.flag("mlp_fc2_bias", "", true)) {
            throw config.unsupported("mlp_fc2_bias", Boolean.toString(!bias), Boolean.toString(bias));
        }
        Arrays.fill(builder.feedForwards, dense(config, sizes.inner(), bias));
        int every = config.integer("moe_every_n_layers", "moe_every_n_layers", 0);
        for (int layer = 1; every > 0 && layer < sizes.layers(); layer++) {
            if (layer % every == 1) {
                builder.feedForwards[layer] = experts(config, sizes.inner());
            }
        }
        if (config.isGguf()) {
            return new Blueprint(builder.spec(), Bert.ggufNames(Names.gguf()));
        }
        boolean isGated = builder.feedForwards[0] instanceof FeedForwardSpec.Gated;
        return new Blueprint(builder.spec(), isGated ? names() : withExperts(names()));
    }

    private static void requireKnown(ModelConfig config) {
        config.requireOff(
                "causal",
                "prenorm",
                "parallel_block",
                "parallel_block_tied_norm",
                "rotary_emb_interleaved",
                "rotary_emb_scale_base",
                "use_rms_norm",
                "scale_attn_by_inverse_layer_idx",
                "expert_choice_router");
        config.requireOn("scale_attn_weights");
        for (String one : new String[] {"rotary_emb_fraction", "ffn_div"}) {
            if (config.number(one, "", 1) != 1) {
                throw config.unsupported(one, Double.toString(config.number(one, "", 1)), "1");
            }
        }
        for (String none : new String[] {"rotary_scaling_factor", "num_shared_experts"}) {
            if (config.number(none, "", 0) != 0) {
                throw config.unsupported(none, Double.toString(config.number(none, "", 0)), "0");
            }
        }
        config.pass(
                "dense_seq_output",
                "fused_bias_fc",
                "fused_dropout_add_ln",
                "max_trained_positions",
                "moe_impl",
                "pad_vocab_size_multiple",
                "use_flash_attn",
                "use_xentropy");
    }

    private static FeedForwardSpec dense(ModelConfig config, int inner, boolean bias) {
        return switch (config.string("activation_function", "", "gelu")) {
            case "swiglu" -> new FeedForwardSpec.Gated(inner, Gate.of(Activation.SILU), bias);
            case "geglu" -> new FeedForwardSpec.Gated(inner, Gate.of(Activation.GELU), bias);
            default ->
                new FeedForwardSpec.Plain(inner, config.activation("activation_function", Activation.GELU), bias);
        };
    }

    private static FeedForwardSpec experts(ModelConfig config, int inner) {
        int experts = config.size("num_experts", "expert_count", MAX_EXPERTS);
        int chosen = config.size("moe_top_k", "expert_used_count", experts);
        Gate gate = Gate.of(config.activation("activation_function", Activation.GELU));
        boolean normalizes = config.flag("moe_normalize_expert_weights", "", false);
        return new FeedForwardSpec.Experts(
                        experts,
                        chosen,
                        inner,
                        gate,
                        Router.Scoring.SOFTMAX,
                        normalizes,
                        1,
                        1,
                        false,
                        1f,
                        false,
                        0,
                        false)
                .with(new FeedForwardSpec.Experts.Traits(false, false, 0));
    }

    private static WeightNames names() {
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, "embeddings.word_embeddings"),
                        Map.entry(Part.TYPES, "embeddings.token_type_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, "emb_ln"),
                        Map.entry(Part.QUERY_KEY_VALUE, LAYER + "attn.Wqkv"),
                        Map.entry(Part.ATTENTION_OUTPUT, LAYER + "attn.out_proj"),
                        Map.entry(Part.POST_ATTENTION_NORM, LAYER + "norm1"),
                        Map.entry(Part.UP, LAYER + "mlp.fc11"),
                        Map.entry(Part.GATE, LAYER + "mlp.fc12"),
                        Map.entry(Part.DOWN, LAYER + "mlp.fc2"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, LAYER + "norm2")));
    }

    /** Feed-forwards without gates, and experts {@code [experts * size, width]} on both sides. */
    private static WeightNames withExperts(WeightNames names) {
        return names.with(Map.of(
                        Part.UP, LAYER + "mlp.fc1",
                        Part.ROUTER, LAYER + "mlp.router.layer",
                        Part.EXPERT_UP, LAYER + "mlp.experts.mlp.w1",
                        Part.EXPERT_DOWN, LAYER + "mlp.experts.mlp.w2",
                        Part.EXPERTS_BIAS, LAYER + "mlp.experts.bias"))
                .with(WeightNames.Layout.TRANSPOSED_EXPERTS);
    }
}
