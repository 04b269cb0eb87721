package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.model.architecture.llama.Qwen;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Qwen 3 Next: three layers in four are gated delta nets, the fourth attends with gates; experts, one of them shared. */
public final class Qwen3Next implements Architecture {
    private static final int MOST = 1 << 24;
    private static final int MOST_HEADS = 10_000;
    private static final String RECURRENT = "attention.recurrent_layers";

    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3_next");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen3next");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = builder(config);
        experts(config, builder, config.flag("norm_topk_prob", "", true));
        return new Blueprint(builder.spec(attentions(config, builder, false)), names(config));
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.DELTA_QUERY_KEY_VALUE, Names.layer("linear_attn.in_proj_qkv")),
            entry(Part.DELTA_GATE, Names.layer("linear_attn.in_proj_z")),
            entry(Part.DELTA_A, Names.layer("linear_attn.in_proj_a")),
            entry(Part.DELTA_B, Names.layer("linear_attn.in_proj_b")),
            entry(Part.DELTA_QUERY_KEY_VALUE_GATE, Names.layer("linear_attn.in_proj_qkvz")),
            entry(Part.DELTA_B_A, Names.layer("linear_attn.in_proj_ba")),
            entry(Part.DELTA_RATE_LOGARITHM, Names.layer("linear_attn.A_log")),
            entry(Part.DELTA_TIME_BIAS, Names.layer("linear_attn.dt_bias")),
            entry(Part.DELTA_NORM, Names.layer("linear_attn.norm")),
            entry(Part.DELTA_OUTPUT, Names.layer("linear_attn.out_proj")),
            entry(Part.CONVOLUTION, Names.layer("linear_attn.conv1d")),
            entry(Part.EXPERT_GATE_UP, Names.layer("mlp.experts.gate_up_proj")),
            entry(Part.SHARED_GATE, Names.layer("mlp.shared_expert.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("mlp.shared_expert.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("mlp.shared_expert.down_proj")),
            entry(Part.SHARED_EXPERT_GATE, Names.layer("mlp.shared_expert_gate")));

    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.FEED_FORWARD_NORM, "blk.{layer}.post_attention_norm"),
            entry(Part.DELTA_QUERY_KEY_VALUE, "blk.{layer}.attn_qkv"),
            entry(Part.DELTA_GATE, "blk.{layer}.attn_gate"),
            entry(Part.DELTA_A, "blk.{layer}.ssm_alpha"),
            entry(Part.DELTA_B, "blk.{layer}.ssm_beta"),
            entry(Part.DELTA_B_A, "blk.{layer}.ssm_ba"),
            entry(Part.DELTA_RATE, "blk.{layer}.ssm_a"),
            entry(Part.DELTA_TIME_BIAS, "blk.{layer}.ssm_dt.bias"),
            entry(Part.DELTA_NORM, "blk.{layer}.ssm_norm"),
            entry(Part.DELTA_OUTPUT, "blk.{layer}.ssm_out"),
            entry(Part.CONVOLUTION, "blk.{layer}.ssm_conv1d"));

    static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(GGUF_NAMES)
                : Names.huggingFace().with(NAMES);
    }

    /** What this family and its successor have in common, but for their layers' kinds and feed-forwards. */
    static SpecBuilder builder(ModelConfig config) {
        int predicting = config.sizeOrNone("", "nextn_predict_layers", 64);
        var builder = SpecBuilder.of(config, Sizes.of(config).withoutLayers(predicting));
        builder.rmsNorm(config, 1f);
        var sizes = builder.sizes;
        var rope = new Ropes(config, sizes.headSize(), sizes.context(), 10_000, false, 0.25).read();
        Arrays.fill(builder.ropes, rope);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated = config.flag("attn_output_gate", "", true);
        config.requireOff("attention_bias");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return builder;
    }

    /**
     * Heads with gates, and delta nets in the layers that are said to be such, or in all but every fourth.
     *
     * @param takesTurns see {@link DeltaHeads}
     */
    static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder, boolean takesTurns) {
        int interval = config.size("full_attention_interval", "full_attention_interval", MOST, 4);
        int valueHeads = config.size("linear_num_value_heads", "ssm.time_step_rank", MOST_HEADS);
        int valueSize = config.isGguf()
                ? config.size("", "ssm.inner_size", MOST) / valueHeads
                : config.size("linear_value_head_dim", "", AttentionSpec.MAX_HEAD_SIZE);
        var heads = new DeltaHeads(
                config.size("linear_num_key_heads", "ssm.group_count", MOST_HEADS),
                valueHeads,
                config.size("linear_key_head_dim", "ssm.state_size", AttentionSpec.MAX_HEAD_SIZE),
                valueSize,
                takesTurns);
        int taps = config.size("linear_conv_kernel_dim", "ssm.conv_kernel", AttentionSpec.MAX_TAPS);
        double epsilon = config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-6);
        var delta = new AttentionSpec.DeltaNet(
                heads, taps, config.activation("hidden_act", Activation.SILU), (float) epsilon);
        AttentionSpec[] attentions = builder.attentions();
        boolean[] said = config.has("", RECURRENT) ? config.flags(RECURRENT) : new boolean[0];
        if (said.length > 0 && said.length < attentions.length) {
            throw config.unsupported(RECURRENT, said.length + " flags", "one for each layer");
        }
        boolean[] areDelta = builder.layersOf(
                config, "linear_attention", layer -> said.length > 0 ? said[layer] : (layer + 1) % interval != 0);
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = areDelta[layer] ? delta : attentions[layer];
        }
        return attentions;
    }

    /** Experts with a shared one. */
    static void experts(ModelConfig config, SpecBuilder builder, boolean normalizes) {
        int shared = config.size("shared_expert_intermediate_size", "expert_shared_feed_forward_length", MOST);
        Qwen.experts(
                config,
                builder,
                Mixture.of(config, Qwen.expertSize(config), normalizes).withShared(shared, true));
    }
}
