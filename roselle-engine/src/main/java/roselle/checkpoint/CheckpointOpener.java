package roselle.checkpoint;

import java.nio.file.Path;
import roselle.api.CheckpointException;

/** Opens what a path names and unmaps everything again when that fails. */
final class CheckpointOpener {
    private CheckpointOpener() {}

    static Checkpoint open(Path path) {
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
