package roselle.hub.file;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import roselle.hub.request.HubName;

/**
 * Which files of a repository make up the model that was asked for.
 *
 * @param files to have, an index among them but not the shards it names
 * @param index of the shards; empty where the weights are listed already
 * @param opened the path in the snapshot that is opened as the model; empty for the snapshot itself
 */
public record FileChoice(List<String> files, Optional<String> index, Optional<String> opened) {
    private static final String SAFETENSORS = "model.safetensors";
    private static final String INDEX = "model.safetensors.index.json";
    private static final String CARD = "README.md";
    private static final String ADAPTER = "adapter_model.safetensors";
    private static final String ADAPTER_CONFIG = "adapter_config.json";
    private static final String MODULES = "modules.json";

    /** Beside the weights: what the engine reads. Pickled weights, ONNX, pictures and the like stay where they are. */
    private static final Set<String> BESIDE_WEIGHTS = Set.of(
            "config.json",
            "generation_config.json",
            "hf_quant_config.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "tokenizer.model",
            "special_tokens_map.json",
            "added_tokens.json",
            "vocab.json",
            "vocab.txt",
            "merges.txt",
            MODULES,
            "config_sentence_transformers.json",
            "sentence_bert_config.json",
            "chat_template.json",
            "chat_template.jinja");

    public FileChoice {
        files = List.copyOf(files);
    }

    /** Whether a path may belong to some choice. */
    public static boolean isCandidate(String path, Optional<String> selector) {
        return GgufChoice.isModel(path)
                || path.endsWith(".safetensors")
                || path.equals(INDEX)
                || path.equals(CARD)
                || path.equals(ADAPTER_CONFIG)
                || isModule(path)
                || BESIDE_WEIGHTS.contains(path)
                || selector.filter(path::equals).isPresent();
    }

    /** Whether a path is in a folder that sentence-transformers gives a module of a model: {@code 1_Pooling/config.json}. */
    private static boolean isModule(String path) {
        int slash = path.indexOf('/');
        int underscore = path.indexOf('_');
        return underscore > 0
                && slash > underscore
                && path.substring(0, underscore).chars().allMatch(digit -> digit >= '0' && digit <= '9')
                && (path.substring(slash).equals("/config.json")
                        || path.substring(slash).equals("/" + SAFETENSORS));
    }

    /** The choice among these paths; fails in a sentence where there is none. */
    public static FileChoice of(HubName name, Collection<String> paths) {
        Set<String> present = new TreeSet<>(paths);
        if (name.selector().isPresent()) {
            return selected(name, name.selector().get(), present);
        }
        if (present.contains(SAFETENSORS)) {
            return new FileChoice(withCompany(present, List.of(SAFETENSORS)), Optional.empty(), Optional.empty());
        }
        if (present.contains(INDEX)) {
            return new FileChoice(withCompany(present, List.of(INDEX)), Optional.of(INDEX), Optional.empty());
        }
        if (present.contains(ADAPTER) && present.contains(ADAPTER_CONFIG)) {
            var files = new ArrayList<>(List.of(ADAPTER_CONFIG, ADAPTER));
            addIfPresent(files, CARD, present);
            return new FileChoice(files, Optional.empty(), Optional.empty());
        }
        return ofGguf(present, GgufChoice.byDefault(name, present));
    }

    private static FileChoice selected(HubName name, String selector, Set<String> present) {
        if (!present.contains(selector)) {
            return ofGguf(present, GgufChoice.byQuantization(name, selector, present));
        }
        if (selector.endsWith(".gguf")) {
            return ofGguf(present, GgufChoice.partsOf(name, selector, present));
        }
        boolean isWeights = selector.toLowerCase(Locale.ROOT).endsWith(".safetensors");
        List<String> files = isWeights ? withCompany(present, List.of(selector)) : List.of(selector);
        return new FileChoice(files, Optional.empty(), Optional.of(selector));
    }

    private static FileChoice ofGguf(Set<String> present, List<String> parts) {
        var files = new ArrayList<String>();
        addIfPresent(files, CARD, present);
        files.addAll(parts);
        return new FileChoice(files, Optional.empty(), Optional.of(parts.getFirst()));
    }

    private static List<String> withCompany(Set<String> present, List<String> weights) {
        var files = new ArrayList<String>();
        present.stream().filter(BESIDE_WEIGHTS::contains).forEach(files::add);
        if (present.contains(MODULES)) {
            present.stream().filter(FileChoice::isModule).forEach(files::add);
        }
        addIfPresent(files, CARD, present);
        files.addAll(weights);
        return files;
    }

    private static void addIfPresent(List<String> files, String path, Set<String> present) {
        if (present.contains(path)) {
            files.add(path);
        }
    }

    /** Whether a file holds weights; these are fetched last, so that who finds them finds the rest. */
    public static boolean isWeights(String path) {
        return path.endsWith(".safetensors") || path.endsWith(".gguf");
    }
}
