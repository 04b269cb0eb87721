package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.checkpoint.Metadata;
import roselle.model.architecture.expert.DeepseekV3;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/**
 * Kimi Linear: three layers in four are delta nets whose channels decay by themselves (Kimi Delta Attention), the others latent
 * attention without positions; experts as DeepSeek V3 has them.
 */
public final class KimiLinear implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("kimi_linear");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("kimi-linear");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 1));
        builder.rmsNorm(epsilon(config));
        config.requireOff("attention_bias");
        config.requireOn("mla_use_nope", "use_grouped_topk");
        config.requireWord("moe_router_activation_func", "sigmoid");
        config.pass(HARMLESS);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        var attentions = new AttentionSpec[builder.sizes.layers()];
        Arrays.fill(attentions, DeepseekV3.attention(config, builder).withoutPositions());
        boolean[] areDelta = deltaLayers(config, builder);
        AttentionSpec.DeltaNet delta = delta(config, builder);
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = areDelta[layer] ? delta : attentions[layer];
        }
        return new Blueprint(
                builder.spec(attentions),
                config.isGguf()
                        ? Names.gguf().with(GGUF_NAMES)
                        : DeepseekV3.names(config).with(NAMES));
    }

    private static final Sizes.Fields FIELDS = new Sizes.Fields(
            "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "model_max_length");

    private static final String LINEAR = "linear_attn_config";
    private static final int MOST_HEADS = 10_000;

    /** Of attention that is as wide as latent attention says, and of what predicts further tokens, which published models lack. */
    private static final String[] HARMLESS = {
        "head_dim", "num_key_value_heads", "rope_scaling", "rope_theta", "num_nextn_predict_layers"
    };

    private static boolean[] deltaLayers(ModelConfig config, SpecBuilder builder) {
        int layers = builder.sizes.layers();
        if (config.isGguf()) {
            return Hybrids.stateLayers(config, layers);
        }
        Optional<Metadata> linear = config.object(LINEAR);
        return linear.isPresent() && !config.has("layer_types", "")
                ? said(config, linear.get(), layers)
                : builder.layersOf(config, "linear_attention", layer -> layer == 0 || layer % 4 != 0);
    }

    /** Which layers are delta nets; those of the list count from 1. */
    private static boolean[] said(ModelConfig config, Metadata linear, int layers) {
        var are = new boolean[layers];
        for (int layer : linear.integers("kda_layers")) {
            if (layer < 1 || layer > layers) {
                throw config.unsupported("kda_layers", Integer.toString(layer), "1 to " + layers);
            }
            are[layer - 1] = true;
        }
        for (int layer : linear.integers("full_attn_layers")) {
            if (layer < 1 || layer > layers || are[layer - 1]) {
                throw config.unsupported("full_attn_layers", Integer.toString(layer), "layers that no other list has");
            }
        }
        return are;
    }

    /** Of fields together, as published, or one by one, as transformers writes them. */
    private static AttentionSpec.DeltaNet delta(ModelConfig config, SpecBuilder builder) {
        int most = AttentionSpec.MAX_HEAD_SIZE;
        Optional<Metadata> linear = config.object(LINEAR);
        int size = linear.isPresent()
                ? within(config, linear.get(), "head_dim", most)
                : config.size("linear_head_dim", "kda.head_dim", most);
        int count = linear.isPresent()
                ? within(config, linear.get(), "num_heads", MOST_HEADS)
                : config.isGguf() ? builder.sizes.heads() : config.size("linear_num_heads", "", MOST_HEADS);
        int taps = linear.isPresent()
                ? within(config, linear.get(), "short_conv_kernel_size", AttentionSpec.MAX_TAPS)
                : config.size("linear_conv_kernel_dim", "ssm.conv_kernel", AttentionSpec.MAX_TAPS);
        config.pass("linear_head_dim", "linear_num_heads", "linear_conv_kernel_dim");
        return new AttentionSpec.DeltaNet(
                DeltaHeads.ofChannels(count, size, size), taps, Activation.LOGISTIC, epsilon(config), size);
    }

    private static float epsilon(ModelConfig config) {
        return (float) config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-5);
    }

    private static int within(ModelConfig config, Metadata fields, String field, int most) {
        int number = fields.integer(field);
        if (number < 1 || number > most) {
            throw config.unsupported(field, Integer.toString(number), "1 to " + most);
        }
        return number;
    }

    private static final String EXPERT = Names.layer("block_sparse_moe.experts.{expert}.");
    private static final Map<Part, String> NAMES = Map.ofEntries(
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
            entry(Part.DELTA_OUTPUT, Names.layer("self_attn.o_proj")),
            entry(Part.ROUTER, Names.layer("block_sparse_moe.gate")),
            entry(Part.ROUTER_CORRECTION, Names.layer("block_sparse_moe.gate.e_score_correction_bias")),
            entry(Part.EXPERT_GATE, EXPERT + "w1"),
            entry(Part.EXPERT_UP, EXPERT + "w3"),
            entry(Part.EXPERT_DOWN, EXPERT + "w2"),
            entry(Part.SHARED_GATE, Names.layer("block_sparse_moe.shared_experts.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("block_sparse_moe.shared_experts.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("block_sparse_moe.shared_experts.down_proj")));

    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.CONVOLUTION_QUERY, "blk.{layer}.ssm_conv1d_q"),
            entry(Part.CONVOLUTION_KEY, "blk.{layer}.ssm_conv1d_k"),
            entry(Part.CONVOLUTION_VALUE, "blk.{layer}.ssm_conv1d_v"),
            entry(Part.DELTA_GATE_DOWN, "blk.{layer}.ssm_g_a"),
            entry(Part.DELTA_GATE_UP, "blk.{layer}.ssm_g_b"),
            entry(Part.DELTA_A_DOWN, "blk.{layer}.ssm_f_a"),
            entry(Part.DELTA_A_UP, "blk.{layer}.ssm_f_b"),
            entry(Part.DELTA_B, "blk.{layer}.ssm_beta"),
            entry(Part.DELTA_RATE, "blk.{layer}.ssm_a"),
            entry(Part.DELTA_TIME_BIAS, "blk.{layer}.ssm_dt.bias"),
            entry(Part.DELTA_NORM, "blk.{layer}.ssm_norm"),
            entry(Part.DELTA_OUTPUT, "blk.{layer}.attn_output"));
}
