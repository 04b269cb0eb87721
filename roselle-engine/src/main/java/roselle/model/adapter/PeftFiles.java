package roselle.model.adapter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;

/** A folder as PEFT writes it: what {@code adapter_config.json} says of its tensors. */
final class PeftFiles {
    static final String PREFIX = "base_model.model.";
    private static final PairNames NAMES = new PairNames(PREFIX, ".lora_A.weight", ".lora_B.weight");

    /** What is read here, or says where the adapter came from, how it was trained, or which modules have tensors, which the tensors say. */
    private static final Set<String> KNOWN = Set.of(
            "alpha_pattern",
            "auto_mapping",
            "base_model_name_or_path",
            "bias",
            "ensure_weight_tying",
            "exclude_modules",
            "fan_in_fan_out",
            "inference_mode",
            "init_lora_weights",
            "layers_pattern",
            "layers_to_transform",
            "loftq_config",
            "lora_alpha",
            "lora_dropout",
            "megatron_config",
            "megatron_core",
            "peft_type",
            "peft_version",
            "qalora_group_size",
            "r",
            "rank_pattern",
            "revision",
            "runtime_config",
            "target_modules",
            "task_type",
            "use_rslora");

    /** What a model can be merged with besides, but nothing can be added beside a product. */
    private static final Set<String> MERGED =
            Set.of("lora_bias", "modules_to_save", "trainable_token_indices", "use_dora");

    /** Ways to begin that leave the model's weights as they are. */
    private static final Set<String> BEGINNINGS = Set.of("gaussian", "eva", "orthogonal");

    private final Checkpoint files;
    private final Metadata config;

    PeftFiles(Checkpoint files) {
        this.files = files;
        config = files.config();
    }

    List<StoredPair> pairs() {
        requireSupported(Set.of());
        if (!config.string("bias", "none").equals("none")) {
            throw unsupported("bias", config.string("bias"), "none");
        }
        var pairs = new ArrayList<StoredPair>();
        for (Map.Entry<String, PairNames.Both> pair : NAMES.pairs(files).entrySet()) {
            int rank = PairNames.rank(files, pair);
            requireRank(pair.getKey(), rank);
            pairs.add(new StoredPair(
                    pair.getKey(), pair.getValue().shrink(), pair.getValue().expand(), scale(pair.getKey(), rank)));
        }
        return pairs;
    }

    /** Refuses what a merged model could not honour either. */
    void requireMergeable() {
        requireSupported(MERGED);
    }

    private void requireSupported(Set<String> besides) {
        if (!config.string("peft_type").equals("LORA")) {
            throw unsupported("peft_type", config.string("peft_type"), "LORA");
        }
        if (config.has("init_lora_weights") && !config.isFlag("init_lora_weights")) {
            String beginning = config.string("init_lora_weights");
            if (!BEGINNINGS.contains(beginning)) {
                throw new CheckpointException(config.origin() + ": init_lora_weights is " + beginning
                        + ", which may have changed the model's own weights, too: save the adapter as a plain one");
            }
        }
        for (String key : config.keys()) {
            if (!KNOWN.contains(key) && !besides.contains(key) && !config.isOff(key)) {
                throw new CheckpointException(config.origin() + ": " + name(key)
                        + " is set, which Roselle does not know how to honour; merge the adapter into its model instead"
                        + (MERGED.contains(key) ? " (roselle merge)" : ""));
            }
        }
    }

    private static String name(String key) {
        return switch (key) {
            case "use_dora" -> "use_dora (DoRA)";
            case "modules_to_save" -> "modules_to_save (whole weights beside the low-rank ones)";
            case "target_parameters" -> "target_parameters (experts)";
            default -> key;
        };
    }

    void requireRank(String module, int rank) {
        int stated = patterned("rank_pattern", module)
                .map(key -> config.object("rank_pattern").orElseThrow().integer(key))
                .orElseGet(() -> config.integer("r"));
        if (rank != stated) {
            throw new CheckpointException(files.source() + ": the matrices of " + module + " have rank " + rank
                    + ", but " + config.origin() + " says " + stated + "; the files do not belong together");
        }
    }

    float scale(String module, int rank) {
        double alpha = patterned("alpha_pattern", module)
                .map(key -> config.object("alpha_pattern").orElseThrow().number(key))
                .orElseGet(() -> config.number("lora_alpha"));
        double divisor = config.flag("use_rslora", false) ? Math.sqrt(rank) : rank;
        float scale = (float) (alpha / divisor);
        if (!Float.isFinite(scale)) {
            throw new CheckpointException(config.origin() + ": the scale of " + module + " is " + scale);
        }
        return scale;
    }

    /** The key of a pattern that a module matches: the first, as PEFT has it. */
    private Optional<String> patterned(String field, String module) {
        Optional<Metadata> patterns = config.object(field);
        return patterns.flatMap(all -> all.keys().stream()
                .filter(key -> ModuleExpression.matches(key, module, config.origin()))
                .findFirst());
    }

    private CheckpointException unsupported(String key, String value, String supported) {
        return new CheckpointException(config.origin() + ": " + key + " is " + value + "; supported is " + supported);
    }
}
