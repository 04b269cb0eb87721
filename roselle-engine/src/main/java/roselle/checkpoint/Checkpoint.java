package roselle.checkpoint;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.FileField;
import roselle.tensor.Tensor;
import roselle.tokenizer.Tokenizer;

/** A model's files, opened: named tensors plus metadata, mapped and not copied. Closing it unmaps every tensor. */
public interface Checkpoint extends AutoCloseable {
    /** The file layout, which decides how metadata keys and tensors are named. */
    enum Format {
        GGUF,
        HUGGING_FACE
    }

    /** The file or folder that was opened. */
    Path source();

    Format format();

    /** GGUF's key-value pairs, or config.json. */
    Metadata config();

    /** generation_config.json; empty where there is none. */
    Optional<Metadata> generationConfig();

    /** hf_quant_config.json, where NVIDIA's ModelOpt says how matrices are stored; empty where there is none. */
    default Optional<Metadata> modelOptConfig() {
        return Optional.empty();
    }

    /** All tensors by name, in file order; shapes outermost first. */
    Map<String, Tensor> tensors();

    /** Bytes of all tensors, as the files have them. */
    default long tensorBytes() {
        return tensors().values().stream()
                .mapToLong(tensor -> tensor.data().byteSize())
                .sum();
    }

    /** The tensor of a name; a {@code CheckpointException} where there is none. */
    default Tensor tensor(String name) {
        Tensor tensor = tensors().get(name);
        if (tensor == null) {
            throw new CheckpointException(source() + " has no tensor " + FileField.excerpt(name));
        }
        return tensor;
    }

    /** Whether a tokenizer comes with the model. */
    boolean hasTokenizer();

    /** The tokenizer that comes with the model; a {@code CheckpointException} where there is none. */
    Tokenizer tokenizer();

    /** The source of the chat template that is used when none is named. */
    Optional<String> chatTemplate();

    /** The source of a named chat template, such as {@code tool_use}; empty where there is none of that name. */
    Optional<String> chatTemplate(String name);

    /** Bytes on disk of the files that hold tensors. */
    long bytes();

    /**
     * Fails if one of the files is now shorter than when it was opened. Tensors read after that may have faulted: call
     * it when the weights have been copied out of the mapping.
     */
    void checkFiles();

    @Override
    void close();
}
