package roselle.checkpoint.path;

import java.nio.file.Path;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.file.MappedFiles;

/** Opens checkpoints; what was mapped is unmapped again where that fails. */
public final class Checkpoints {
    private Checkpoints() {}

    /**
     * Opens a model: a Hugging Face folder, a {@code .gguf} (also one part of several), a {@code .safetensors}, its
     * index, or a tokenizer's file alone. Files are mapped, so it takes milliseconds whatever their size.
     *
     * @throws CheckpointException in one sentence: file, offset, field and value
     */
    public static Checkpoint open(Path path) {
        MappedFiles files = new MappedFiles();
        boolean isOpen = false;
        try {
            Checkpoint checkpoint = ModelPath.of(path).open(files);
            isOpen = true;
            return checkpoint;
        } catch (InternalError fault) { // how the JVM reports that a mapped file has become shorter
            throw new CheckpointException(path + " changed while it was being read: " + fault.getMessage(), fault);
        } finally {
            if (!isOpen) {
                files.close();
            }
        }
    }
}
