package roselle.hub.http;

import java.io.IOException;
import java.io.Serial;
import java.time.Duration;

/** A failure of the network or the hub that may be gone in a moment. */
public final class PassingFailure extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Duration wait;

    public PassingFailure(String message) {
        this(message, Duration.ZERO);
    }

    /** With the time that the hub asks to wait. */
    public PassingFailure(String message, Duration wait) {
        super(message);
        this.wait = wait;
    }

    public PassingFailure(String message, Throwable cause) {
        super(message, cause);
        this.wait = Duration.ZERO;
    }

    Duration hubsWait() {
        return wait;
    }
}
