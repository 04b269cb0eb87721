package roselle.checkpoint;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
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

    /** All tensors by name, in file order; shapes outermost first. */
    Map<String, Tensor> tensors();

    /** The tokenizer that comes with the model; a {@code CheckpointException} where there is none. */
    Tokenizer tokenizer();

    /** The chat template's source. */
    Optional<String> chatTemplate();

    @Override
    void close();
}
