package roselle.server.pool;

import java.io.Serial;

/** Why a model was not loaded, in words that any client may read; the cause has the others. */
final class ModelLoadException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    ModelLoadException(String message, Throwable cause) {
        super(message, cause);
    }
}
