package roselle.quantization.folder;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.checkpoint.huggingface.SafetensorsIndex;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/** A quantized folder before it is written: what each tensor becomes, by the file that it lies in. */
public final class FolderPlan {
    private static final String WEIGHT = ".weight";
    private static final String FAMILY = "model_type";
    private static final String OUTPUT = "lm_head";
    private static final Set<DataType> PLAIN = Set.of(DataType.F32, DataType.F16, DataType.BF16);

    /** Of products as {@code [inputs, outputs]}, which no form of quantized matrices has. */
    private static final Set<String> TURNED = Set.of("gpt2");

    /**
     * Parts of modules' names whose matrices stay as they are: embeddings, outputs and heads, norms, what chooses experts or
     * positions or decays (few numbers, whose errors are felt by all others), and what reads images and sound.
     */
    private static final Pattern LEFT_ALONE =
            parts(".*embed.*|wte|wpe|output_layer|lm_head|head|score|classifier|.*norm.*"
                    + "|gate|.*router|.*expert_gate|weights_proj|wgate|.*_coefs|in_proj_a|in_proj_b|in_proj_ba"
                    + "|visual|vision_.*|audio_.*|multi_modal_projector");

    /** The same of matrices whose rows are put in another order, or repeated, when they are loaded: codes with scales cannot be. */
    private static final Pattern REARRANGED =
            parts("query_key_value|in_proj_qkvz|(self_attn|attention)\\.(g|gate)_proj");

    /** Of families whose name begins so, the same; what engines read together with a matrix stays as that one is. */
    private static final Map<String, Pattern> REARRANGED_OF = Map.of(
            "qwen3_5", parts("self_attn\\.[qkv]_proj"),
            "qwen3_next", parts("self_attn\\.[qkv]_proj"),
            "minimax", parts("qkv_proj"));

    private final Checkpoint source;
    private final FolderType type;
    private final SequencedMap<String, List<FolderTensor>> shards;
    private final List<String> ignored;

    private static Pattern parts(String names) {
        return Pattern.compile("(.*\\.)?(" + names + ")(\\..*)?");
    }

    private FolderPlan(
            Checkpoint source, FolderType type, SequencedMap<String, List<FolderTensor>> shards, List<String> ignored) {
        this.source = source;
        this.type = type;
        this.shards = Collections.unmodifiableSequencedMap(shards);
        this.ignored = List.copyOf(ignored);
    }

    /**
     * Plans what becomes of a folder's tensors.
     *
     * @throws CheckpointException in one sentence, for what is no folder of safetensors, is quantized already, or has no matrix that
     *     could be
     */
    public static FolderPlan of(Checkpoint source, FolderType type) {
        requirePlain(source);
        Map<String, String> places = places(source.source());
        var shards = new TreeMap<String, List<FolderTensor>>();
        var ignored = new TreeSet<String>();
        boolean isChanged = false;
        String family = source.config().string(FAMILY, "");
        ignored.add(OUTPUT); // a module also where it is the embedding's tensor
        for (Tensor tensor : source.tensors().values()) {
            FolderTensor planned = planned(tensor, family, type);
            isChanged |= planned.isQuantized();
            if (!planned.isQuantized()) {
                addModule(tensor, ignored);
            }
            String file = places.getOrDefault(tensor.name(), FolderFiles.SAFETENSORS);
            if (!places.isEmpty() && !places.containsKey(tensor.name())) {
                throw new CheckpointException(source.source() + ": tensor " + tensor.name()
                        + " is computed of parts; merge them before the model is quantized");
            }
            shards.computeIfAbsent(file, _ -> new ArrayList<>()).add(planned);
        }
        if (!isChanged) {
            throw new CheckpointException(source.source() + ": no matrix of this model can become " + type);
        }
        return new FolderPlan(source, type, shards, List.copyOf(ignored));
    }

    private static void requirePlain(Checkpoint source) {
        if (source.format() != Checkpoint.Format.HUGGING_FACE
                || !Files.isDirectory(source.source())
                || source.tensors().isEmpty()) {
            throw new CheckpointException(
                    source.source() + " is no folder of safetensors; only such a folder is quantized to safetensors");
        }
        Metadata config = source.config();
        boolean isQuantized = isQuantized(config)
                || config.object("text_config").filter(FolderPlan::isQuantized).isPresent()
                || source.modelOptConfig().isPresent()
                || source.tensors().values().stream().anyMatch(FolderPlan::hasCodes);
        if (isQuantized) {
            throw new CheckpointException(
                    source.source() + " is quantized already; begin with a folder of float32, float16 or bfloat16");
        }
        String family = config.string(FAMILY, "");
        if (TURNED.contains(family)) {
            throw new CheckpointException(source.source() + ": models of type " + family
                    + " store their matrices turned round, and are not quantized to safetensors");
        }
    }

    private static boolean isQuantized(Metadata config) {
        return config.has(Quantization.FIELD) || config.has("compression_config");
    }

    private static boolean hasCodes(Tensor tensor) {
        return tensor.name().endsWith(WEIGHT) && tensor.shape().rank() >= 2 && !PLAIN.contains(tensor.type());
    }

    /** The file of each tensor; empty where there is but one file. */
    private static Map<String, String> places(Path folder) {
        return Files.exists(folder.resolve(FolderFiles.SAFETENSORS))
                ? Map.of()
                : SafetensorsIndex.read(folder.resolve(FolderFiles.SAFETENSORS_INDEX))
                        .shards();
    }

    private static FolderTensor planned(Tensor tensor, String family, FolderType type) {
        boolean isQuantized = isProduct(tensor, family) && type.fits(tensor.shape());
        return new FolderTensor(
                tensor,
                isQuantized
                        ? type.stored(module(tensor.name()), tensor.shape())
                        : List.of(new StoredTensor(tensor.name(), tensor.type(), tensor.shape())),
                isQuantized);
    }

    private static boolean isProduct(Tensor tensor, String family) {
        return tensor.shape().rank() == 2
                && tensor.shape().elements() > 0
                && tensor.name().endsWith(WEIGHT)
                && !staysAsItIs(module(tensor.name()), family);
    }

    private static boolean staysAsItIs(String module, String family) {
        return LEFT_ALONE.matcher(module).matches()
                || REARRANGED.matcher(module).matches()
                || REARRANGED_OF.entrySet().stream()
                        .anyMatch(entry -> family.startsWith(entry.getKey())
                                && entry.getValue().matcher(module).matches());
    }

    private static String module(String name) {
        return name.substring(0, name.length() - WEIGHT.length());
    }

    /** Of a matrix that stays as it is, or a stack of experts, the module, which others would take for quantized. */
    private static void addModule(Tensor tensor, Set<String> modules) {
        String name = tensor.name();
        int stack = name.lastIndexOf(".experts.");
        if (name.endsWith(WEIGHT) && tensor.shape().rank() == 2) {
            modules.add(module(name));
        } else if (stack >= 0 && tensor.shape().rank() == 3) {
            modules.add(name.substring(0, name.lastIndexOf('.')));
        }
    }

    /** The files that the model is read from. */
    public Checkpoint source() {
        return source;
    }

    FolderType type() {
        return type;
    }

    /** The tensors of each file, by its name. */
    SequencedMap<String, List<FolderTensor>> shards() {
        return shards;
    }

    /** Modules of matrices that stay as they are, sorted. */
    public List<String> ignored() {
        return ignored;
    }

    /** All tensors, file by file. */
    public List<FolderTensor> tensors() {
        return shards.values().stream().flatMap(List::stream).toList();
    }

    /** Bytes of all new tensors. */
    public long bytes() {
        return tensors().stream().mapToLong(FolderTensor::bytes).sum();
    }
}
