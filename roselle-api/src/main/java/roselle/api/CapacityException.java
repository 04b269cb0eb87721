package roselle.api;

import java.io.Serial;

/** Something asked for more memory, queue or context than there is; the message has both numbers. */
public final class CapacityException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public CapacityException(String message) {
        super(message);
    }

    public CapacityException(String message, Throwable cause) {
        super(message, cause);
    }
}
