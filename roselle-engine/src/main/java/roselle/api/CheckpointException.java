package roselle.api;

import java.io.Serial;

/** A model file that is missing, malformed or not supported; the message has the file and the field. */
public final class CheckpointException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public CheckpointException(String message) {
        super(message);
    }

    public CheckpointException(String message, Throwable cause) {
        super(message, cause);
    }
}
