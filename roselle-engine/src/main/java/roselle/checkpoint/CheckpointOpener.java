package roselle.checkpoint;

import java.nio.file.Path;
import java.util.function.Function;
import roselle.api.CheckpointException;

/** Opens what a path names and unmaps everything again when that fails. */
final class CheckpointOpener {
    private CheckpointOpener() {}

    static Checkpoint open(Path path) {
        return switch (ModelPath.of(path)) {
            case ModelPath.Gguf(Path file) -> mapping(path, files -> GgufCheckpoint.open(file, files));
            case ModelPath.Folder(Path folder) ->
                mapping(path, files -> HuggingFaceCheckpoint.openFolder(folder, files));
            case ModelPath.Safetensors(Path file) ->
                mapping(path, files -> HuggingFaceCheckpoint.openSafetensors(file, files));
            case ModelPath.TokenizerFile(Path file) -> new TokenizerCheckpoint(file);
        };
    }

    private static Checkpoint mapping(Path path, Function<MappedFiles, Checkpoint> opening) {
        MappedFiles files = new MappedFiles();
        boolean isOpen = false;
        try {
            Checkpoint checkpoint = opening.apply(files);
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
