package roselle.checkpoint.file;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import roselle.api.CheckpointException;

/** What a path must name before it is opened. */
public final class RegularFile {
    private RegularFile() {}

    /** Fails where there is nothing. */
    public static void requireExisting(Path path) {
        if (!Files.exists(path)) {
            throw new CheckpointException(path + " does not exist", new NoSuchFileException(path.toString()));
        }
    }

    /** Fails on what is there but cannot be a model file, too: a folder, a pipe, a device. */
    public static void require(Path path) {
        requireExisting(path);
        if (!Files.isRegularFile(path)) {
            throw new CheckpointException(path + " is not a regular file");
        }
    }
}
