package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Connection;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.Gate;
import roselle.checkpoint.Metadata;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.IndexSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * The text of GLM 5.3: Kimi Delta Attention whose decays have a bound, and in one layer of four latent attention without positions to the
 * blocks that an index with one key a block chooses; several streams, whose mean is read at the end; experts as DeepSeek V3 has them,
 * with gates that have bounds.
 */
public final class Glm53 implements Architecture {
    private static final int MOST = 1 << 24;
    private static final String LINEAR = "linear_attn_config";

    @Override
    public Set<String> modelTypes() {
        return Set.of("glm5_next");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig whole) {
        whole.pass(ENCODER);
        ModelConfig config = whole.text();
        config.requireOff("attention_bias");
        config.pass(HARMLESS);
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 1));
        builder.rmsNorm(config, 0f, 1e-5);
        builder.block = BlockSpec.connected(new HyperConnections(
                config.size("hc_mult", "", MOST, 4),
                config.size("hc_sinkhorn_iters", "", MOST, 20),
                (float) config.number("hc_eps", "", 1e-6),
                new Connection.Taken(2f, 0f),
                true));
        var gate = new Gate(
                config.activation("hidden_act", Activation.SILU), (float) config.number("swiglu_limit", "", 10), 0f);
        Arrays.fill(builder.feedForwards, new FeedForwardSpec.Gated(builder.sizes.inner(), gate, false));
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config).with(gate));
        return new Blueprint(
                builder.spec(attentions(config, builder)),
                whole == config ? names(config) : Names.wrapped(whole, names(config)));
    }

    private static final Sizes.Fields FIELDS = new Sizes.Fields(
            "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings");

    /** Of attention that is as wide as latent attention says, and of training. */
    private static final String[] HARMLESS = {
        "head_dim",
        "qk_head_dim",
        "num_key_value_heads",
        "output_router_logits",
        "router_aux_loss_coef",
        "num_nextn_predict_layers"
    };

    /** What reads pictures. */
    private static final String[] ENCODER = {"vision_config", "tie_word_embeddings"};

    private static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder) {
        int layers = builder.sizes.layers();
        boolean[] areDelta = deltaLayers(config, layers);
        boolean[] choosing = DeepseekV32.choosing(config, layers);
        AttentionSpec.DeltaNet delta = delta(config);
        AttentionSpec.Latent latent = latent(config, builder.sizes.heads());
        var attentions = new AttentionSpec[layers];
        for (int layer = 0; layer < layers; layer++) {
            attentions[layer] = areDelta[layer] ? delta : latent.with(index(config, choosing[layer]));
        }
        return attentions;
    }

    private static boolean[] deltaLayers(ModelConfig config, int layers) {
        var are = new boolean[layers];
        boolean isNamed = config.has("layer_types", "");
        if (isNamed && config.strings("layer_types").size() != layers) {
            throw config.unsupported(
                    "layer_types", config.strings("layer_types").size() + " names", "one for each layer");
        }
        for (int layer = 0; layer < layers; layer++) {
            are[layer] = isNamed ? isDelta(config, config.strings("layer_types").get(layer)) : layer % 4 != 3;
        }
        return are;
    }

    private static boolean isDelta(ModelConfig config, String type) {
        return switch (type) {
            case "linear_attention" -> true;
            case "indexed_attention", "full_attention" -> false;
            default -> throw config.unsupported("layer_types", type, "linear_attention or indexed_attention");
        };
    }

    private static AttentionSpec.Latent latent(ModelConfig config, int heads) {
        if (config.integer("qk_rope_head_dim", "", 0) != 0) {
            throw config.unsupported("qk_rope_head_dim", "" + config.integer("qk_rope_head_dim", "", 0), "0");
        }
        int plain = config.size("qk_nope_head_dim", "", AttentionSpec.MAX_HEAD_SIZE);
        return new AttentionSpec.Latent(
                heads,
                config.size("q_lora_rank", "", MOST),
                config.size("kv_lora_rank", "", MOST),
                plain,
                config.size("v_head_dim", "", AttentionSpec.MAX_HEAD_SIZE),
                null,
                (float) (1 / Math.sqrt(plain)),
                epsilon(config),
                null);
    }

    private static IndexSpec index(ModelConfig config, boolean isOwn) {
        config.requireOn("index_kpool_always_select_tail");
        int block = config.size("index_kpool", "", MOST, 16);
        int chosen = config.size("index_topk", "", MOST);
        if (block < 2 || chosen % block != 0) {
            throw config.unsupported(
                    "index_kpool", Integer.toString(block), "2 or more, of which index_topk is a multiple");
        }
        return new IndexSpec(
                config.size("index_n_heads", "", MOST),
                config.size("index_head_dim", "", AttentionSpec.MAX_HEAD_SIZE),
                block,
                0,
                chosen,
                null,
                1e-6f,
                isOwn);
    }

    /** Of fields together or one by one. */
    private static AttentionSpec.DeltaNet delta(ModelConfig config) {
        Optional<Metadata> linear = config.object(LINEAR);
        int size = number(config, linear, "head_dim", "linear_head_dim", 128, AttentionSpec.MAX_HEAD_SIZE);
        int count = number(config, linear, "num_heads", "linear_num_heads", 64, MOST);
        int taps =
                number(config, linear, "short_conv_kernel_size", "linear_conv_kernel_dim", 4, AttentionSpec.MAX_TAPS);
        float assumed = (float) config.number("linear_lower_bound", "", -5);
        float least = linear.map(all -> (float) all.number("gate_lower_bound", assumed))
                .orElse(assumed);
        if (!(least < 0)) {
            throw config.unsupported("linear_lower_bound", Float.toString(least), "less than 0");
        }
        return new AttentionSpec.DeltaNet(
                DeltaHeads.ofChannels(count, size, size), taps, Activation.LOGISTIC, epsilon(config), size, 1f, least);
    }

    private static int number(
            ModelConfig config, Optional<Metadata> together, String field, String alone, int assumed, int most) {
        int own = config.size(alone, "", most, assumed);
        int number = together.map(all -> all.integer(field, own)).orElse(own);
        if (number < 1 || number > most) {
            throw config.unsupported(field, Integer.toString(number), "1 to " + most);
        }
        return number;
    }

    private static float epsilon(ModelConfig config) {
        return (float) config.number("rms_norm_eps", "", 1e-5);
    }

    private static WeightNames names(ModelConfig config) {
        return DeepseekV3.names(config).with(DeepseekV32.NAMES).with(NAMES);
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.ATTENTION_CONNECTION, Names.layer("hc_attn_fn")),
            entry(Part.ATTENTION_CONNECTION_BIAS, Names.layer("hc_attn_base")),
            entry(Part.ATTENTION_CONNECTION_SCALE, Names.layer("hc_attn_scale")),
            entry(Part.FEED_FORWARD_CONNECTION, Names.layer("hc_ffn_fn")),
            entry(Part.FEED_FORWARD_CONNECTION_BIAS, Names.layer("hc_ffn_base")),
            entry(Part.FEED_FORWARD_CONNECTION_SCALE, Names.layer("hc_ffn_scale")),
            entry(Part.INDEX_COMPRESSED_GATE, Names.layer("self_attn.indexer.index_kpool_compress_gate")),
            entry(Part.INDEX_COMPRESSED_BIAS, Names.layer("self_attn.indexer.index_kpool_compress_ape")),
            entry(Part.CONVOLUTION_QUERY, Names.layer("self_attn.q_conv1d")),
            entry(Part.CONVOLUTION_KEY, Names.layer("self_attn.k_conv1d")),
            entry(Part.CONVOLUTION_VALUE, Names.layer("self_attn.v_conv1d")),
            entry(Part.DELTA_GATE_DOWN, Names.layer("self_attn.g_a_proj")),
            entry(Part.DELTA_GATE_UP, Names.layer("self_attn.g_b_proj")),
            entry(Part.DELTA_A_DOWN, Names.layer("self_attn.f_a_proj")),
            entry(Part.DELTA_A_UP, Names.layer("self_attn.f_b_proj")),
            entry(Part.DELTA_B, Names.layer("self_attn.b_proj")),
            entry(Part.DELTA_RATE_LOGARITHM, Names.layer("self_attn.A_log")),
            entry(Part.DELTA_TIME_BIAS, Names.layer("self_attn.dt_bias")),
            entry(Part.DELTA_NORM, Names.layer("self_attn.o_norm")),
            entry(Part.DELTA_OUTPUT, Names.layer("self_attn.o_proj")));
}
