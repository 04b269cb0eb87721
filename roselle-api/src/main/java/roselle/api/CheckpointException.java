package roselle.api;

import java.io.Serial;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A model file that is missing, malformed or not supported; the message has the file and the field, on one line whatever
 * the file may spell.
 */
public final class CheckpointException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public CheckpointException(String message) {
        super(OneLine.of(message));
    }

    public CheckpointException(String message, Throwable cause) {
        super(OneLine.of(message), cause);
    }

    /** A file or folder that is not there; its cause says so to those who map failures to exit codes. */
    public static CheckpointException missing(Path path) {
        return new CheckpointException(path + ": no such file or folder", new NoSuchFileException(path.toString()));
    }
}
