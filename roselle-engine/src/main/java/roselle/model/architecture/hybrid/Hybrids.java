package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.SpecBuilder;
import roselle.model.config.StateSpaces;
import roselle.model.spec.AttentionSpec;
import roselle.model.weights.Part;

/** What decoders with layers of attention and layers of state spaces have in common. */
final class Hybrids {
    private static final String KEY_HEADS = "attention.head_count_kv";
    private static final String TYPES = "layer_types";

    private static final String[] FIELDS = {
        "mamba_chunk_size",
        "mamba_conv_bias",
        "mamba_d_conv",
        "mamba_d_head",
        "mamba_d_state",
        "mamba_expand",
        "mamba_n_groups",
        "mamba_n_heads",
        "mamba_proj_bias",
        "time_step_limit"
    };

    private Hybrids() {}

    static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.SPACE_INPUT, Names.layer("mamba.in_proj")),
            entry(Part.SPACE_RATE_LOGARITHM, Names.layer("mamba.A_log")),
            entry(Part.SPACE_TIME_BIAS, Names.layer("mamba.dt_bias")),
            entry(Part.SPACE_SKIP, Names.layer("mamba.D")),
            entry(Part.SPACE_NORM, Names.layer("mamba.norm")),
            entry(Part.SPACE_OUTPUT, Names.layer("mamba.out_proj")),
            entry(Part.CONVOLUTION, Names.layer("mamba.conv1d")));

    static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.SPACE_INPUT, "blk.{layer}.ssm_in"),
            entry(Part.SPACE_RATE, "blk.{layer}.ssm_a"),
            entry(Part.SPACE_TIME_BIAS, "blk.{layer}.ssm_dt.bias"),
            entry(Part.SPACE_SKIP, "blk.{layer}.ssm_d"),
            entry(Part.SPACE_NORM, "blk.{layer}.ssm_norm"),
            entry(Part.SPACE_OUTPUT, "blk.{layer}.ssm_out"),
            entry(Part.CONVOLUTION, "blk.{layer}.ssm_conv1d"));

    /** For each layer whether it is a state space, by the words for layers, or in GGUF by having no key heads. */
    static boolean[] stateLayers(ModelConfig config, int layers) {
        var are = new boolean[layers];
        if (config.isGguf()) {
            int[] keyHeads = config.integers("", KEY_HEADS);
            for (int i = 0; i < layers; i++) {
                are[i] = i < keyHeads.length && keyHeads[i] == 0;
            }
            return are;
        }
        List<String> types = config.strings(TYPES);
        if (types.size() != layers) {
            throw config.unsupported(TYPES, types.size() + " names", "one for each layer");
        }
        for (int i = 0; i < layers; i++) {
            are[i] = isState(config, types.get(i));
        }
        return are;
    }

    private static boolean isState(ModelConfig config, String type) {
        return switch (type) {
            case "mamba", "linear_attention" -> true;
            case "attention", "full_attention" -> false;
            default -> throw config.unsupported(TYPES, type, "mamba or attention");
        };
    }

    /** State spaces in some layers, and heads in the others. */
    static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder, boolean[] keepStates) {
        AttentionSpec[] attentions = builder.attentions();
        int first = 0;
        while (first < keepStates.length && !keepStates[first]) {
            first++;
        }
        if (first == keepStates.length) {
            config.pass(FIELDS); // of what is not there
            return attentions;
        }
        var space = StateSpaces.of(config, StateSpaces.Fields.ofHybrids(), builder.sizes.width(), first);
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = keepStates[layer] ? space : attentions[layer];
        }
        return attentions;
    }
}
