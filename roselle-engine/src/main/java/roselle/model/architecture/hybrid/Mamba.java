package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Scans;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Mamba (Gu and Dao, 2023), and Falcon Mamba, which normalises what rows tell: selective state spaces and nothing else. */
public final class Mamba implements Architecture {
    private static final Scans.Fields FIELDS =
            new Scans.Fields("state_size", "conv_kernel", "expand", "time_step_rank", "use_bias", "use_conv_bias");

    @Override
    public Set<String> modelTypes() {
        return Set.of("mamba", "falcon_mamba");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("mamba");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireKnown(config);
        Sizes sizes = Sizes.ofStates(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        double epsilon = config.number("layer_norm_epsilon", "attention.layer_norm_rms_epsilon", 1e-5);
        builder.rmsNorm(epsilon);
        Arrays.fill(builder.feedForwards, new FeedForwardSpec.None());
        var attentions = new AttentionSpec[sizes.layers()];
        AttentionSpec.Scan scan = Scans.of(config, FIELDS, sizes.width(), 0, epsilonOfTold(config, epsilon));
        requireWidth(config, scan);
        Arrays.fill(attentions, scan);
        return new Blueprint(
                builder.spec(attentions),
                config.isGguf()
                        ? Names.gguf().with(GGUF_NAMES)
                        : Names.huggingFace().with(Mamba2.BACKBONE).with(NAMES));
    }

    /** Of norms of what rows tell; 0 where there are none. GGUF says whether there are. */
    private static double epsilonOfTold(ModelConfig config, double epsilon) {
        if (config.isGguf()) {
            return config.flag("", "ssm.dt_b_c_rms", false) ? epsilon : 0;
        }
        return config.family().equals("falcon_mamba") ? config.number("mixer_rms_eps", "", 1e-6) : 0;
    }

    private static void requireWidth(ModelConfig config, AttentionSpec.Scan scan) {
        int said = config.integer("intermediate_size", "", scan.channels());
        if (said != scan.channels()) {
            throw new CheckpointException(config.metadata().origin() + ": intermediate_size is " + said
                    + ", supported is " + scan.channels() + ", by expand");
        }
    }

    /** How weights were drawn means nothing here, nor by which program states are computed. */
    private static void requireKnown(ModelConfig config) {
        config.pass("time_step_min", "time_step_max", "time_step_floor", "time_step_scale", "time_step_init_scheme");
        config.pass(
                "rescale_prenorm_residual", "residual_in_fp32", "use_mambapy", "use_associative_scan", "layer_types");
        Mamba2.requireStatesAlone(config);
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.SCAN_INPUT, Mamba2.LAYER + "mixer.x_proj",
            Part.SCAN_TIME, Mamba2.LAYER + "mixer.dt_proj");

    private static final String BLOCK = "blk.{layer}.";
    static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.SPACE_INPUT, BLOCK + "ssm_in"),
            entry(Part.SPACE_RATE, BLOCK + "ssm_a"),
            entry(Part.SPACE_SKIP, BLOCK + "ssm_d"),
            entry(Part.SPACE_OUTPUT, BLOCK + "ssm_out"),
            entry(Part.SCAN_INPUT, BLOCK + "ssm_x"),
            entry(Part.SCAN_TIME, BLOCK + "ssm_dt"),
            entry(Part.CONVOLUTION, BLOCK + "ssm_conv1d"));
}
