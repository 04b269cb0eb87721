package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
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

/** Mamba 2: state spaces and nothing else. */
public final class Mamba2 implements Architecture {
    private static final StateSpaces.Fields FIELDS = new StateSpaces.Fields(
            "num_heads",
            "head_dim",
            "n_groups",
            "state_size",
            "conv_kernel",
            "expand",
            "use_bias",
            "use_conv_bias",
            "layer_norm_epsilon");

    @Override
    public Set<String> modelTypes() {
        return Set.of("mamba2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("mamba2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireKnown(config);
        Sizes sizes = Sizes.ofStates(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes);
        builder.rmsNorm(config.number("layer_norm_epsilon", "attention.layer_norm_rms_epsilon", 1e-5));
        Arrays.fill(builder.feedForwards, new FeedForwardSpec.None());
        var attentions = new AttentionSpec[sizes.layers()];
        Arrays.fill(attentions, StateSpaces.of(config, FIELDS, sizes.width(), 0));
        return new Blueprint(
                builder.spec(attentions),
                config.isGguf()
                        ? Names.gguf().with(Hybrids.GGUF_NAMES)
                        : Names.huggingFace().with(BACKBONE).with(NAMES));
    }

    /** How weights were drawn means nothing here, nor what transformers does not look at, either. */
    private static void requireKnown(ModelConfig config) {
        config.pass("time_step_min", "time_step_max", "time_step_floor", "time_step_rank");
        config.pass("rescale_prenorm_residual", "residual_in_fp32", "norm_before_gate", "rms_norm");
        config.pass("layer_types");
        requireStatesAlone(config);
    }

    /** Of decoders without heads, and what follows their convolutions. */
    static void requireStatesAlone(ModelConfig config) {
        if (config.isGguf()) { // 0, because there are none
            config.integer("", "attention.head_count", 0);
        } else if (config.activation("hidden_act", Activation.SILU) != Activation.SILU) {
            throw config.unsupported("hidden_act", config.string("hidden_act", "", ""), "silu");
        }
    }

    static final String LAYER = "backbone.layers.{layer}.";

    /** Of Mamba and Mamba 2. */
    static final Map<Part, String> BACKBONE = Map.ofEntries(
            entry(Part.EMBEDDING, "backbone.embeddings"),
            entry(Part.FINAL_NORM, "backbone.norm_f"),
            entry(Part.ATTENTION_NORM, LAYER + "norm"),
            entry(Part.SPACE_INPUT, LAYER + "mixer.in_proj"),
            entry(Part.SPACE_RATE_LOGARITHM, LAYER + "mixer.A_log"),
            entry(Part.SPACE_SKIP, LAYER + "mixer.D"),
            entry(Part.SPACE_OUTPUT, LAYER + "mixer.out_proj"),
            entry(Part.CONVOLUTION, LAYER + "mixer.conv1d"));

    private static final Map<Part, String> NAMES =
            Map.of(Part.SPACE_TIME_BIAS, LAYER + "mixer.dt_bias", Part.SPACE_NORM, LAYER + "mixer.norm");
}
