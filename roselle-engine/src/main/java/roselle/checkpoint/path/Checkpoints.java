package roselle.checkpoint.path;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.file.MappedFiles;
import roselle.checkpoint.file.RegularFile;
import roselle.checkpoint.gguf.GgufCheckpoint;
import roselle.checkpoint.huggingface.HuggingFaceCheckpoint;

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
        return open(path, files -> ModelPath.of(path).open(files));
    }

    /**
     * Opens an adapter: a folder as PEFT writes it, or a {@code .gguf}.
     *
     * @throws CheckpointException in one sentence: file, offset, field and value
     */
    public static Checkpoint openAdapter(Path path) {
        RegularFile.requireExisting(path);
        return open(
                path,
                files -> Files.isDirectory(path)
                        ? HuggingFaceCheckpoint.openAdapter(path, files)
                        : GgufCheckpoint.open(path, files));
    }

    private static Checkpoint open(Path path, Function<MappedFiles, Checkpoint> opener) {
        MappedFiles files = new MappedFiles();
        boolean isOpen = false;
        try {
            Checkpoint checkpoint = opener.apply(files);
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
