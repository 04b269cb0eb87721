package roselle.model.adapter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.tensor.Tensor;

/** A folder as PEFT writes it: what {@code adapter_config.json} says of its tensors. */
final class PeftFiles {
    static final String PREFIX = "base_model.model.";
    private static final PairNames NAMES = new PairNames(PREFIX, ".lora_A.weight", ".lora_B.weight");

    private static final String TABLE_SHRINK = ".lora_embedding_A";
    private static final String TABLE_EXPAND = ".lora_embedding_B";
    private static final String WEIGHT = ".weight";
    private static final String BIAS = ".bias";
    private static final String BASE = ".base_layer";
    private static final String SAVED = ".modules_to_save";

    /** Versions that are known to write matrices of parameters with inputs as inputs: from 0.21 on. */
    private static final Pattern TURNED = Pattern.compile("(0\\.(2[1-9]|[3-9]\\d)|[1-9]\\d*\\.).*");

    /** What is beside products. */
    private static final Set<String> BESIDE = Set.of("modules_to_save", "target_parameters");

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

    /** What the tensors are, each of which is part of something. */
    List<StoredPart> parts() {
        requireSupported(BESIDE);
        if (!config.string("bias", "none").equals("none")) {
            throw unsupported("bias", config.string("bias"), "none");
        }
        var parts = new ArrayList<StoredPart>();
        var ofProducts = new ArrayList<Tensor>();
        for (Tensor tensor : files.tensors().values()) {
            StoredPart part = ofTokens(tensor);
            if (part != null) {
                parts.add(part);
            } else if (!isRead(tensor.name())) {
                ofProducts.add(tensor);
            }
        }
        requireSaved(parts);
        for (Map.Entry<String, PairNames.Both> pair :
                NAMES.pairs(files, ofProducts).entrySet()) {
            String parameter = parameter(pair.getKey());
            parts.add(
                    parameter.isEmpty()
                            ? product(pair.getKey(), pair)
                            : ofParameter(pair.getKey().replace(BASE, ""), parameter, pair));
        }
        return parts;
    }

    /** What is read with another tensor: the second matrix of an embedding, a bias. */
    private boolean isRead(String name) {
        String other = name.endsWith(TABLE_EXPAND)
                ? replaced(name, TABLE_EXPAND, TABLE_SHRINK)
                : isSaved(name) && name.endsWith(BIAS) ? replaced(name, BIAS, WEIGHT) : name;
        if (other.equals(name)) {
            return false;
        }
        required(other);
        return true;
    }

    private static String replaced(String name, String ending, String by) {
        return name.substring(0, name.length() - ending.length()) + by;
    }

    private Tensor required(String name) {
        Tensor tensor = files.tensors().get(name);
        if (tensor == null) {
            throw new CheckpointException(
                    files.source() + ": tensor " + name + " is missing; the adapter is not complete");
        }
        return tensor;
    }

    /** What a tensor begins of an embedding, an output, or a saved module; null for products. */
    private @Nullable StoredPart ofTokens(Tensor tensor) {
        String name = tensor.name();
        if (!name.startsWith(PREFIX)) {
            return null;
        }
        String module = name.substring(PREFIX.length());
        if (name.endsWith(TABLE_SHRINK)) {
            Tensor expand = required(replaced(name, TABLE_SHRINK, TABLE_EXPAND));
            var both = new PairNames.Both(PairNames.checked(files, tensor), PairNames.checked(files, expand));
            String own = replaced(module, TABLE_SHRINK, "");
            int rank = PairNames.rank(files, own, both, 1);
            requireRank(own, rank);
            return new StoredPart.TablePair(own, tensor, expand, scale(own, rank));
        }
        if (name.endsWith(BASE + WEIGHT)) {
            return new StoredPart.Original(
                    replaced(module, BASE + WEIGHT, ""), WEIGHT, PairNames.checked(files, tensor));
        }
        if (name.endsWith(BASE + BIAS)) {
            return new StoredPart.Original(replaced(module, BASE + BIAS, ""), BIAS, PairNames.floats(files, tensor));
        }
        return isSaved(name) && name.endsWith(WEIGHT)
                ? new StoredPart.Whole(
                        replaced(module.replace(SAVED, ""), WEIGHT, ""),
                        PairNames.checked(files, tensor),
                        bias(replaced(name, WEIGHT, BIAS)))
                : null;
    }

    private @Nullable Tensor bias(String name) {
        Tensor bias = files.tensors().get(name);
        return bias == null ? null : PairNames.floats(files, bias);
    }

    /** Whether a tensor is one of a module that modules_to_save names. */
    private boolean isSaved(String name) {
        String tensor = name.replace(SAVED, "");
        int dot = tensor.lastIndexOf('.');
        return saved().stream().anyMatch(module -> dot > 0 && isEndOf(tensor.substring(0, dot), module));
    }

    private List<String> saved() {
        return config.isOff("modules_to_save") ? List.of() : config.strings("modules_to_save");
    }

    private static boolean isEndOf(String name, String end) {
        return name.equals(end) || name.endsWith("." + end);
    }

    private void requireSaved(List<StoredPart> parts) {
        for (String module : saved()) {
            if (parts.stream().noneMatch(part -> part instanceof StoredPart.Whole && isEndOf(part.module(), module))) {
                throw new CheckpointException(files.source() + ": there is no tensor of " + module
                        + ", which modules_to_save names; the adapter is not complete");
            }
        }
    }

    private StoredPart product(String module, Map.Entry<String, PairNames.Both> pair) {
        int rank = PairNames.rank(files, pair);
        requireRank(module, rank);
        return new StoredPart.Pair(
                pair.getKey(), pair.getValue().shrink(), pair.getValue().expand(), scale(module, rank));
    }

    /** A parameter of a module: the matrix of a product, or those of experts. */
    private StoredPart ofParameter(String module, String parameter, Map.Entry<String, PairNames.Both> pair) {
        if (parameter.equals("weight")) {
            return product(module, pair);
        }
        String path = module + "." + parameter;
        PairNames.Both both = pair.getValue();
        int stated = statedRank(path);
        long ranks = both.shrink().shape().rows();
        int experts = (int) Math.max(1, ranks / Math.max(1, stated));
        int rank = PairNames.rank(files, path, both, experts);
        requireRank(path, rank);
        String version = config.string("peft_version", "0");
        return new StoredPart.ExpertPairs(
                path,
                both.shrink(),
                both.expand(),
                rank,
                scale(path, rank),
                TURNED.matcher(version).matches());
    }

    /**
     * The parameter that target_parameters names of a module with a pair; empty where it names none. Of two the one that a module
     * has last lies outside, and is read without a {@code base_layer} (PEFT wraps parameters in the order in which modules have them).
     */
    private String parameter(String key) {
        if (config.isOff("target_parameters")) {
            return "";
        }
        String module = key.replace(BASE, "");
        int depth = (key.length() - module.length()) / BASE.length();
        var found = new TreeSet<String>();
        for (String target : config.strings("target_parameters")) {
            int dot = target.lastIndexOf('.');
            if (dot > 0 && isEndOf(module, target.substring(0, dot))) {
                found.add(target.substring(dot + 1));
            }
        }
        if (found.isEmpty()) {
            return "";
        }
        if (found.size() == 1 && depth == 0) {
            return found.first();
        }
        if (depth > 1 || !found.equals(Set.of("down_proj", "gate_up_proj"))) {
            throw new CheckpointException(files.source() + ": " + module + " has matrices of several parameters ("
                    + String.join(", ", found) + "), which is not supported but for gate_up_proj and down_proj:"
                    + " merge the adapter into its model");
        }
        return depth == 0 ? "down_proj" : "gate_up_proj";
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
            case "target_parameters" -> "target_parameters (experts)";
            default -> key;
        };
    }

    private int statedRank(String module) {
        return patterned("rank_pattern", module)
                .map(key -> config.object("rank_pattern").orElseThrow().integer(key))
                .orElseGet(() -> config.integer("r"));
    }

    void requireRank(String module, int rank) {
        int stated = statedRank(module);
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
