package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Scans;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Jamba (Lieber et al., 2024): selective state spaces, in every eighth layer heads without positions, in every second one experts. */
public final class Jamba implements Architecture {
    private static final int MOST = 1 << 24;
    private static final String KEY_HEADS = "attention.head_count_kv";
    private static final Scans.Fields FIELDS = new Scans.Fields(
            "mamba_d_state", "mamba_d_conv", "mamba_expand", "mamba_dt_rank", "mamba_proj_bias", "mamba_conv_bias");

    @Override
    public Set<String> modelTypes() {
        return Set.of("jamba");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("jamba");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, sizes(config));
        builder.rmsNorm(config, 0f);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        config.pass("use_mamba_kernels", "use_mambapy", "use_associative_scan", "layer_types", "layers_block_type");
        config.pass("sliding_window", "num_logits_to_keep");
        int layers = builder.sizes.layers();
        boolean[] attend = periodic(config, "attn_layer_period", "attn_layer_offset", layers, 8, 4);
        int[] keyHeads = config.isGguf() ? config.integers("", KEY_HEADS) : new int[0];
        AttentionSpec[] attentions = builder.attentions();
        AttentionSpec.Scan scan = scan(config, builder.sizes.width());
        for (int layer = 0; layer < layers; layer++) {
            boolean isHeads = config.isGguf() ? layer < keyHeads.length && keyHeads[layer] > 0 : attend[layer];
            attentions[layer] = isHeads ? attentions[layer] : scan;
        }
        experts(config, builder);
        return new Blueprint(builder.spec(attentions), names(config));
    }

    private static Sizes sizes(ModelConfig config) {
        if (!config.isGguf()) {
            return Sizes.of(config);
        }
        int most = 1;
        for (int heads : config.integers("", KEY_HEADS)) {
            most = Math.max(most, heads);
        }
        return Sizes.of(config, most, config.size("", "feed_forward_length", MOST));
    }

    private static AttentionSpec.Scan scan(ModelConfig config, int width) {
        double epsilon = config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-6);
        return Scans.of(config, FIELDS, width, 0, epsilon);
    }

    /** Experts in some layers, if there are more than one; in GGUF where there is a router. */
    private static void experts(ModelConfig config, SpecBuilder builder) {
        int layers = builder.feedForwards.length;
        boolean[] sparse = periodic(config, "expert_layer_period", "expert_layer_offset", layers, 2, 1);
        int count = config.size("num_experts", "expert_count", MOST, 16);
        for (int layer = 0; layer < layers; layer++) {
            boolean isSparse =
                    config.isGguf() ? config.hasTensor("blk." + layer + ".ffn_gate_inp.weight") : sparse[layer];
            if (isSparse && count > 1) {
                builder.feedForwards[layer] = Mixture.of(config, builder.sizes.inner(), false);
            }
        }
        if (count == 1) {
            config.integer("num_experts_per_tok", "expert_used_count", 1);
        }
    }

    private static boolean[] periodic(
            ModelConfig config, String periodField, String offsetField, int layers, int period, int offset) {
        var are = new boolean[layers];
        int every = config.size(periodField, "", MOST, period);
        int first = config.integer(offsetField, "", offset);
        for (int layer = 0; layer < layers; layer++) {
            are[layer] = Math.floorMod(layer - first, every) == 0;
        }
        return are;
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(Mamba.GGUF_NAMES).with(GGUF_NAMES)
                : Names.huggingFace().with(NAMES);
    }

    private static final String EXPERT = Names.layer("feed_forward.experts.{expert}.");
    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.FINAL_NORM, "model.final_layernorm"),
            entry(Part.FEED_FORWARD_NORM, Names.layer("pre_ff_layernorm")),
            entry(Part.SPACE_INPUT, Names.layer("mamba.in_proj")),
            entry(Part.SPACE_RATE_LOGARITHM, Names.layer("mamba.A_log")),
            entry(Part.SPACE_SKIP, Names.layer("mamba.D")),
            entry(Part.SPACE_OUTPUT, Names.layer("mamba.out_proj")),
            entry(Part.SCAN_INPUT, Names.layer("mamba.x_proj")),
            entry(Part.SCAN_TIME, Names.layer("mamba.dt_proj")),
            entry(Part.SCAN_TIME_NORM, Names.layer("mamba.dt_layernorm")),
            entry(Part.SCAN_B_NORM, Names.layer("mamba.b_layernorm")),
            entry(Part.SCAN_C_NORM, Names.layer("mamba.c_layernorm")),
            entry(Part.CONVOLUTION, Names.layer("mamba.conv1d")),
            entry(Part.GATE, Names.layer("feed_forward.gate_proj")),
            entry(Part.UP, Names.layer("feed_forward.up_proj")),
            entry(Part.DOWN, Names.layer("feed_forward.down_proj")),
            entry(Part.ROUTER, Names.layer("feed_forward.router")),
            entry(Part.EXPERT_GATE, EXPERT + "gate_proj"),
            entry(Part.EXPERT_UP, EXPERT + "up_proj"),
            entry(Part.EXPERT_DOWN, EXPERT + "down_proj"));

    private static final Map<Part, String> GGUF_NAMES = Map.of(
            Part.SCAN_TIME_NORM, "blk.{layer}.ssm_dt_norm",
            Part.SCAN_B_NORM, "blk.{layer}.ssm_b_norm",
            Part.SCAN_C_NORM, "blk.{layer}.ssm_c_norm");
}
