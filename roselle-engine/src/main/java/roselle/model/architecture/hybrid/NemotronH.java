package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import roselle.backend.operation.Activation;
import roselle.model.architecture.expert.DeepseekV3;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.config.StateSpaces;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Nemotron-H and Nemotron 3: each layer is a state space, attention without positions, a feed-forward with squared ReLU, or experts that may read fewer numbers than the stream has. */
public final class NemotronH implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("nemotron_h");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        List<Kind> kinds = kinds(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes(config, kinds.size()));
        config.requireOff("attention_bias", "mlp_bias");
        config.requireWord("mamba_hidden_act", "silu");
        config.pass(HARMLESS);
        builder.rmsNorm(config.number("layer_norm_epsilon", "attention.layer_norm_rms_epsilon", 1e-5));
        AttentionSpec[] attentions = builder.attentions();
        int space = kinds.indexOf(Kind.STATE);
        AttentionSpec state = space < 0 ? new AttentionSpec.None() : state(config, builder.sizes.width(), space);
        for (int layer = 0; layer < attentions.length; layer++) {
            Kind kind = kinds.get(layer);
            builder.feedForwards[layer] = kind == Kind.EXPERTS ? experts(config) : new FeedForwardSpec.None();
            if (kind == Kind.DENSE) {
                builder.feedForwards[layer] = dense(config, layer);
            }
            attentions[layer] = switch (kind) {
                case STATE -> state;
                case ATTENTION -> attentions[layer];
                case DENSE, EXPERTS -> new AttentionSpec.None();
            };
        }
        return new Blueprint(builder.spec(attentions), config.isGguf() ? GGUF_NAMES : names(config));
    }

    private static final int MOST = 1 << 24;

    private enum Kind {
        STATE,
        ATTENTION,
        DENSE,
        EXPERTS
    }

    private static List<Kind> kinds(ModelConfig config) {
        if (config.isGguf()) {
            int[] keyHeads = config.integers("", "attention.head_count_kv");
            int[] inner = config.integers("", "feed_forward_length");
            if (keyHeads.length != inner.length) {
                throw config.unsupported("feed_forward_length", inner.length + " numbers", "one for each layer");
            }
            boolean routes = config.family().endsWith("moe");
            return IntStream.range(0, inner.length)
                    .mapToObj(layer -> inner[layer] != 0
                            ? routes ? Kind.EXPERTS : Kind.DENSE
                            : keyHeads[layer] != 0 ? Kind.ATTENTION : Kind.STATE)
                    .toList();
        }
        if (config.has("layers_block_type", "")) {
            config.pass("hybrid_override_pattern", "num_hidden_layers");
            return config.strings("layers_block_type").stream()
                    .map(name -> kind(config, name))
                    .toList();
        }
        config.pass("num_hidden_layers");
        return config.string("hybrid_override_pattern", "", "")
                .chars()
                .mapToObj(letter -> kind(config, Character.toString(letter)))
                .toList();
    }

    private static Kind kind(ModelConfig config, String name) {
        return switch (name) {
            case "linear_attention", "mamba", "M" -> Kind.STATE;
            case "full_attention", "attention", "*" -> Kind.ATTENTION;
            case "mlp", "-" -> Kind.DENSE;
            case "moe", "E" -> Kind.EXPERTS;
            default -> throw config.unsupported("layers_block_type", name, "mamba, attention, mlp or moe");
        };
    }

    /** A state space whose tokens take a least time, which has a field of its own. */
    private static AttentionSpec.StateSpace state(ModelConfig config, int width, int layer) {
        AttentionSpec.StateSpace read = StateSpaces.of(config, FIELDS, width, layer);
        float shortest = (float) config.number("time_step_min", "", config.isGguf() ? 0 : 0.001);
        return new AttentionSpec.StateSpace(
                read.heads(),
                read.taps(),
                read.bias(),
                read.convolutionBias(),
                shortest,
                Float.POSITIVE_INFINITY,
                read.epsilon());
    }

    private static Sizes sizes(ModelConfig config, int layers) {
        int[] keyHeads = config.integers("num_key_value_heads", "attention.head_count_kv");
        int most = Arrays.stream(keyHeads).max().orElse(1);
        int inner = Arrays.stream(config.integers("intermediate_size", "feed_forward_length"))
                .max()
                .orElse(1);
        return Sizes.of(config, Math.max(1, most), Math.max(1, inner), layers);
    }

    private static FeedForwardSpec dense(ModelConfig config, int layer) {
        int[] inner = config.integers("intermediate_size", "feed_forward_length");
        int size = inner[inner.length == 1 ? 0 : layer];
        return new FeedForwardSpec.Plain(size, config.activation("mlp_hidden_act", Activation.RELU_SQUARED), false);
    }

    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        int shared = config.size("moe_shared_expert_intermediate_size", "expert_shared_feed_forward_length", MOST);
        int latent = config.sizeOrNone("moe_latent_size", "moe_latent_size", MOST);
        return DeepseekV3.experts(config, "mlp_hidden_act", Activation.RELU_SQUARED)
                .withShared(shared, false)
                .with(new FeedForwardSpec.Experts.Traits(false, false, latent));
    }

    private static final StateSpaces.Fields FIELDS = new StateSpaces.Fields(
            "mamba_num_heads",
            "mamba_head_dim",
            "n_groups",
            "ssm_state_size",
            "conv_kernel",
            "",
            "use_bias",
            "use_conv_bias",
            "layer_norm_epsilon");

    /** Of training, of other implementations, and of what predicts further tokens. */
    private static final String[] HARMLESS = {
        "expand",
        "mamba_proj_bias",
        "mamba_ssm_cache_dtype",
        "moe_shared_expert_overlap",
        "mtp_hybrid_override_pattern",
        "mtp_layers_block_type",
        "num_logits_to_keep",
        "rescale_prenorm_residual",
        "residual_in_fp32",
        "time_step_floor",
        "time_step_limit",
        "time_step_max",
        "time_step_rank",
        "use_mamba_kernels",
        "attention_head_dim",
        "rope_theta",
        "partial_rotary_factor"
    };

    /** Published checkpoints begin their names with backbone, some with model. */
    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("backbone.embeddings.weight") ? "backbone." : "model.";
        String mixer = prefix + "layers.{layer}.mixer.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        entry(Part.EMBEDDING, prefix + "embeddings"),
                        entry(Part.FINAL_NORM, prefix + "norm_f"),
                        entry(Part.ATTENTION_NORM, prefix + "layers.{layer}.norm"),
                        entry(Part.FEED_FORWARD_NORM, prefix + "layers.{layer}.norm"),
                        entry(Part.QUERY, mixer + "q_proj"),
                        entry(Part.KEY, mixer + "k_proj"),
                        entry(Part.VALUE, mixer + "v_proj"),
                        entry(Part.ATTENTION_OUTPUT, mixer + "o_proj"),
                        entry(Part.SPACE_INPUT, mixer + "in_proj"),
                        entry(Part.SPACE_RATE_LOGARITHM, mixer + "A_log"),
                        entry(Part.SPACE_TIME_BIAS, mixer + "dt_bias"),
                        entry(Part.SPACE_SKIP, mixer + "D"),
                        entry(Part.SPACE_NORM, mixer + "norm"),
                        entry(Part.SPACE_OUTPUT, mixer + "out_proj"),
                        entry(Part.CONVOLUTION, mixer + "conv1d"),
                        entry(Part.UP, mixer + "up_proj"),
                        entry(Part.DOWN, mixer + "down_proj"),
                        entry(Part.ROUTER, mixer + "gate"),
                        entry(Part.ROUTER_CORRECTION, mixer + "gate.e_score_correction_bias"),
                        entry(Part.EXPERT_UP, mixer + "experts.{expert}.up_proj"),
                        entry(Part.EXPERT_DOWN, mixer + "experts.{expert}.down_proj"),
                        entry(Part.SHARED_UP, mixer + "shared_experts.up_proj"),
                        entry(Part.SHARED_DOWN, mixer + "shared_experts.down_proj"),
                        entry(Part.EXPERTS_INPUT, mixer + "fc1_latent_proj"),
                        entry(Part.EXPERTS_OUTPUT, mixer + "fc2_latent_proj")));
    }

    private static final WeightNames GGUF_NAMES =
            Names.gguf().with(Hybrids.GGUF_NAMES).with(Map.of(Part.FEED_FORWARD_NORM, "blk.{layer}.attn_norm"));
}
