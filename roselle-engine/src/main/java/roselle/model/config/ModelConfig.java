package roselle.model.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.backend.operation.Activation;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.quantization.Quantization;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * A checkpoint's configuration, read by either of the two names that a quantity has: its field in {@code config.json} and
 * its key in GGUF, without the architecture in front. An empty name means that the format does not have it.
 *
 * <p>What is read is remembered, so that {@link UnreadFields} can refuse what was not.
 */
public final class ModelConfig {
    private final Checkpoint checkpoint;
    private final Metadata metadata;
    private final String prefix;
    private final Map<String, Integer> assumed;
    private final Set<String> read = new HashSet<>();
    private final List<ModelConfig> parts = new ArrayList<>();

    public ModelConfig(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
        metadata = checkpoint.config();
        prefix = isGguf() ? metadata.string("general.architecture") + "." : "";
        assumed = Map.of();
    }

    private ModelConfig(Checkpoint checkpoint, Metadata metadata, Map<String, Integer> assumed) {
        this.checkpoint = checkpoint;
        this.metadata = metadata;
        prefix = "";
        this.assumed = new HashMap<>(assumed);
        this.assumed.keySet().removeAll(metadata.keys());
    }

    /** The part that describes the decoder, where a configuration wraps it beside an encoder of pictures; else this one. */
    public ModelConfig text() {
        return text(Map.of());
    }

    /** The same, with numbers that it need not say. */
    public ModelConfig text(Map<String, Integer> assumedNumbers) {
        Optional<Metadata> text = object("text_config");
        if (text.isEmpty()) {
            return this;
        }
        var part = new ModelConfig(checkpoint, text.orElseThrow(), assumedNumbers);
        parts.add(part);
        return part;
    }

    /** The parts that were read apart. */
    List<ModelConfig> parts() {
        return parts;
    }

    public boolean isGguf() {
        return checkpoint.format() == Checkpoint.Format.GGUF;
    }

    /** The family's name in this format. */
    public String family() {
        return isGguf() ? metadata.string("general.architecture") : metadata.string("model_type");
    }

    public int integer(String field, String key) {
        String name = name(field, key);
        Integer unsaid = assumed.get(name);
        return unsaid == null ? metadata.integer(name) : unsaid;
    }

    public int integer(String field, String key, int fallback) {
        String name = name(field, key);
        return name.isEmpty() ? fallback : metadata.integer(name, assumed.getOrDefault(name, fallback));
    }

    /** A count or size that must be at least 1 and not absurd. */
    public int size(String field, String key, int most) {
        return checked(name(field, key), integer(field, key), most);
    }

    /** The same, with what to assume where it is absent. */
    public int size(String field, String key, int most, int fallback) {
        return checked(name(field, key), integer(field, key, fallback), most);
    }

    /** Counts or sizes under either name, all of which must be so; a lone number is a list of one. */
    public int[] sizes(String field, String key, int most) {
        int[] sizes = integers(field, key);
        for (int size : sizes) {
            checked(name(field, key), size, most);
        }
        return sizes;
    }

    /** One size, where 0 means that there is none; so does absence. */
    public int sizeOrNone(String field, String key, int most) {
        String name = name(field, key);
        int value = integer(field, key, 0);
        if (value < 0 || value > most) {
            throw new CheckpointException(metadata.origin() + ": " + name + " is " + value + ", expected 0 to " + most);
        }
        return value;
    }

    /** Tokens that a query sees; 0 for all. */
    public int window(String field, String key) {
        return sizeOrNone(field, key, Sizes.MAX_POSITIONS);
    }

    public double number(String field, String key) {
        return metadata.number(name(field, key));
    }

    public double number(String field, String key, double fallback) {
        String name = name(field, key);
        return name.isEmpty() ? fallback : metadata.number(name, fallback);
    }

    public boolean flag(String field, String key, boolean fallback) {
        String name = name(field, key);
        return name.isEmpty() ? fallback : metadata.flag(name, fallback);
    }

    public String string(String field, String key, String fallback) {
        String name = name(field, key);
        return name.isEmpty() ? fallback : metadata.string(name, fallback);
    }

    public boolean has(String field, String key) {
        String name = name(field, key);
        return !name.isEmpty() && metadata.has(name);
    }

    public List<String> strings(String field) {
        return metadata.strings(name(field, ""));
    }

    public float[] numbers(String field) {
        return metadata.numbers(name(field, ""));
    }

    /** The same under either name. */
    public float[] numbers(String field, String key) {
        return metadata.numbers(name(field, key));
    }

    public int[] integers(String field) {
        return metadata.integers(name(field, ""));
    }

    /** The same under either name; a lone number is a list of one. */
    public int[] integers(String field, String key) {
        return metadata.integers(name(field, key));
    }

    /** A list of flags that GGUF has for its layers. */
    public boolean[] flags(String key) {
        return metadata.flags(name("", key));
    }

    public Optional<Metadata> object(String field) {
        return isGguf() ? Optional.empty() : metadata.object(name(field, ""));
    }

    /** The activation function of a field; GGUF does not record it. */
    public Activation activation(String field, Activation assumed) {
        if (isGguf() || !has(field, "")) {
            return assumed;
        }
        String name = metadata.string(field);
        return switch (name) {
            case "silu", "swish" -> Activation.SILU;
            case "gelu", "gelu_python" -> Activation.GELU;
            case "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate" -> Activation.GELU_TANH;
            case "quick_gelu" -> Activation.GELU_QUICK;
            case "relu" -> Activation.RELU;
            case "relu2" -> Activation.RELU_SQUARED;
            default ->
                throw unsupported(field, name, "silu, gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, relu or relu2");
        };
    }

    /** Fails where a flag of config.json is set that this decoder does not honour. */
    public void requireOff(String... fields) {
        for (String field : fields) {
            if (!isGguf() && flag(field, "", false)) {
                throw unsupported(field, "true", "false");
            }
        }
    }

    /** Fails where a flag of config.json is off that this decoder always has; absent it is on. */
    public void requireOn(String... fields) {
        for (String field : fields) {
            if (!isGguf() && !flag(field, "", true)) {
                throw unsupported(field, "false", "true");
            }
        }
    }

    /** Fails where config.json has another word than the one that this decoder stands for; absent it is that one. */
    public void requireWord(String field, String known) {
        String word = string(field, "", known);
        if (!word.equals(known)) {
            throw unsupported(field, word, known);
        }
    }

    /** Takes note of fields of config.json that change nothing here, so that they are not refused as unread. */
    public void pass(String... fields) {
        for (String field : fields) {
            name(field, "");
        }
    }

    /** Fails where matrices are stored in a way that Roselle does not know. */
    public void requireKnownQuantization() {
        name(Quantization.FIELD, "");
        Quantization.of(checkpoint);
    }

    Optional<Tensor> tensor(String name) {
        return Optional.ofNullable(checkpoint.tensors().get(name));
    }

    /** The numbers of a small tensor that describes the decoder, such as a trained activation; none where it is not there. */
    public float[] numbersOf(String name) {
        return tensor(name).map(Dequantizer::all).orElse(new float[0]);
    }

    public boolean hasTensor(String name) {
        return checkpoint.tensors().containsKey(name);
    }

    /** Whether any layer has a tensor of such a name. */
    public boolean hasTensorEnding(String ending) {
        return checkpoint.tensors().keySet().stream().anyMatch(name -> name.endsWith(ending));
    }

    /** A flag of config.json that a GGUF shows by having a tensor. */
    public boolean flagOrTensor(String field, String tensor, boolean fallback) {
        return isGguf() ? hasTensor(tensor) : flag(field, "", fallback);
    }

    /** Fails where a GGUF's experts are scored by anything but sigmoids; not said, they are. */
    public void requireSigmoids() {
        int function = integer("", "expert_gating_func", SIGMOIDS);
        if (function != SIGMOIDS) {
            throw unsupported("expert_gating_func", Integer.toString(function), SIGMOIDS + ", sigmoids");
        }
    }

    private static final int SIGMOIDS = 2;

    /** The extent of a tensor that must be there. */
    public int extent(String name, int axis) {
        Tensor tensor = tensor(name)
                .orElseThrow(() -> new CheckpointException(checkpoint.source() + ": tensor " + name + " is missing"));
        if (tensor.shape().rank() <= axis) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + name + " has shape " + tensor.shape()
                    + ", expected two extents");
        }
        long extent = tensor.shape().extent(axis);
        if (extent < 1 || extent > Integer.MAX_VALUE) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + name + " has shape " + tensor.shape()
                    + ", expected extents from 1 on");
        }
        return (int) extent;
    }

    public CheckpointException unsupported(String field, String value, String supported) {
        return new CheckpointException(
                metadata.origin() + ": " + field + " is " + value + "; supported is " + supported);
    }

    public Metadata metadata() {
        return metadata;
    }

    String prefix() {
        return prefix;
    }

    Set<String> read() {
        return read;
    }

    private String name(String field, String key) {
        String name = isGguf() ? key : field;
        if (name.isEmpty()) {
            return "";
        }
        String full = prefix + name;
        read.add(full);
        return full;
    }

    private int checked(String name, int value, int most) {
        if (value < 1 || value > most) {
            throw new CheckpointException(metadata.origin() + ": " + name + " is " + value + ", expected 1 to " + most);
        }
        return value;
    }
}
