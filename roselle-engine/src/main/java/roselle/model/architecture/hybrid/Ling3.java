package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.model.architecture.expert.DeepseekV3;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.LatentGates;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/**
 * Ling 3: Kimi Delta Attention whose decays have a bound, in the last layer of each group latent attention with a gate for each head;
 * experts as DeepSeek V3 has them.
 */
public final class Ling3 implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("bailing_hybrid");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("bailingmoe3");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        String context = config.has("model_max_length", "") ? "model_max_length" : "max_position_embeddings";
        var fields = new Sizes.Fields(
                "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", context);
        var builder = SpecBuilder.of(config, Sizes.of(config, fields, 0, 1));
        builder.rmsNorm(config, 0f);
        requireKnown(config);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        AttentionSpec.Latent latent = DeepseekV3.attention(config, builder).with(false, LatentGates.OF_HEADS);
        AttentionSpec.DeltaNet delta = delta(config, builder.sizes.heads());
        boolean[] areDelta = deltaLayers(config, builder);
        var attentions = new AttentionSpec[areDelta.length];
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = areDelta[layer] ? delta : latent;
        }
        return new Blueprint(
                builder.spec(attentions),
                config.isGguf()
                        ? Names.gguf().with(GGUF_NAMES)
                        : DeepseekV3.names(config).with(NAMES));
    }

    private static void requireKnown(ModelConfig config) {
        config.requireOff("attention_bias", "use_bias", "use_qkv_bias");
        config.requireOn("kda_safe_gate", "no_kda_lora");
        config.requireWord("score_function", "sigmoid");
        config.requireWord("gated_attention_proj_granularity_type", "head_wise");
        int shared = config.integer("moe_shared_expert_intermediate_size", "", 0);
        if (shared != 0 && shared != config.integer("moe_intermediate_size", "", shared)) {
            throw config.unsupported(
                    "moe_shared_expert_intermediate_size", Integer.toString(shared), "that of other experts");
        }
        config.pass("num_key_value_heads", "num_nextn_predict_layers", "mtp_loss_scaling_factor", "rope_scaling");
        if (config.isGguf() && !config.flag("", "kda.safe_gate", true)) {
            throw config.unsupported("kda.safe_gate", "false", "true");
        }
    }

    /** As names of layers say it, or all but the last of each group; in GGUF those without heads of keys. */
    private static boolean[] deltaLayers(ModelConfig config, SpecBuilder builder) {
        int layers = builder.sizes.layers();
        if (config.isGguf()) {
            return Hybrids.stateLayers(config, layers);
        }
        int group = config.size("layer_group_size", "", MOST, 6);
        if (!config.has("layer_types", "") && layers % group != 0) {
            throw config.unsupported("layer_group_size", Integer.toString(group), "whole groups of layers");
        }
        return builder.layersOf(config, "linear_attention", layer -> (layer + 1) % group != 0);
    }

    /** Heads as long as published configurations say of all, or transformers writes of these. */
    private static AttentionSpec.DeltaNet delta(ModelConfig config, int heads) {
        String field = config.has("linear_head_dim", "") ? "linear_head_dim" : "head_dim";
        config.pass("head_dim");
        int size = config.size(field, "kda.head_dim", AttentionSpec.MAX_HEAD_SIZE);
        int taps = config.size(
                "linear_conv_kernel_dim",
                "ssm.conv_kernel",
                AttentionSpec.MAX_TAPS,
                config.size("short_conv_kernel_size", "", AttentionSpec.MAX_TAPS, 4));
        int count = config.size("linear_num_heads", "", MOST, heads);
        float epsilon = (float) config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-6);
        float least = (float) config.number("kda_lower_bound", "kda.gate_lower_bound", -5);
        if (!(least < 0)) {
            throw config.unsupported("kda_lower_bound", Float.toString(least), "less than 0");
        }
        return new AttentionSpec.DeltaNet(
                DeltaHeads.ofChannels(count, size, size), taps, Activation.LOGISTIC, epsilon, 0, 1f, least);
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.EMBEDDING, "model.word_embeddings"),
            entry(Part.QUERY, Names.layer("attention.q_proj")),
            entry(Part.QUERY_DOWN, Names.layer("attention.q_a_proj")),
            entry(Part.QUERY_DOWN_NORM, Names.layer("attention.q_a_layernorm")),
            entry(Part.QUERY_UP, Names.layer("attention.q_b_proj")),
            entry(Part.LATENT_DOWN, Names.layer("attention.kv_a_proj_with_mqa")),
            entry(Part.LATENT_NORM, Names.layer("attention.kv_a_layernorm")),
            entry(Part.LATENT_UP, Names.layer("attention.kv_b_proj")),
            entry(Part.ATTENTION_GATE, Names.layer("attention.g_proj")),
            entry(Part.ATTENTION_OUTPUT, Names.layer("attention.dense")),
            entry(Part.DELTA_QUERY, Names.layer("attention.q_proj")),
            entry(Part.DELTA_KEY, Names.layer("attention.k_proj")),
            entry(Part.DELTA_VALUE, Names.layer("attention.v_proj")),
            entry(Part.DELTA_GATE, Names.layer("attention.g_proj")),
            entry(Part.DELTA_A, Names.layer("attention.f_proj")),
            entry(Part.DELTA_B, Names.layer("attention.b_proj")),
            entry(Part.DELTA_RATE_LOGARITHM, Names.layer("attention.A_log")),
            entry(Part.DELTA_TIME_BIAS, Names.layer("attention.dt_bias")),
            entry(Part.DELTA_NORM, Names.layer("attention.o_norm")),
            entry(Part.DELTA_OUTPUT, Names.layer("attention.dense")),
            entry(Part.CONVOLUTION_QUERY, Names.layer("attention.q_conv1d")),
            entry(Part.CONVOLUTION_KEY, Names.layer("attention.k_conv1d")),
            entry(Part.CONVOLUTION_VALUE, Names.layer("attention.v_conv1d")),
            entry(Part.ROUTER_CORRECTION, Names.layer("mlp.gate.expert_bias")));

    private static final String BLOCK = "blk.{layer}.";
    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.DELTA_QUERY, BLOCK + "attn_q"),
            entry(Part.DELTA_KEY, BLOCK + "attn_k"),
            entry(Part.DELTA_VALUE, BLOCK + "attn_v"),
            entry(Part.DELTA_GATE, BLOCK + "ssm_g_a"),
            entry(Part.DELTA_A, BLOCK + "ssm_f_a"),
            entry(Part.DELTA_B, BLOCK + "ssm_beta"),
            entry(Part.DELTA_RATE, BLOCK + "ssm_a"),
            entry(Part.DELTA_TIME_BIAS, BLOCK + "ssm_dt.bias"),
            entry(Part.DELTA_NORM, BLOCK + "ssm_norm"),
            entry(Part.DELTA_OUTPUT, BLOCK + "attn_output"),
            entry(Part.CONVOLUTION_QUERY, BLOCK + "ssm_conv1d_q"),
            entry(Part.CONVOLUTION_KEY, BLOCK + "ssm_conv1d_k"),
            entry(Part.CONVOLUTION_VALUE, BLOCK + "ssm_conv1d_v"));
}
