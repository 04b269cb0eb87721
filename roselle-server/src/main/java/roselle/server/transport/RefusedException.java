package roselle.server.transport;

import java.io.Serial;

/** A request is not HTTP as it may be sent, or too much of it. */
public final class RefusedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;

    RefusedException(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    /** The status of HTTP that says so. */
    public int status() {
        return status;
    }
}
