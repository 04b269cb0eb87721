package roselle.hub;

import java.io.IOException;
import java.io.Serial;
import java.time.Duration;

/** A failure of the network or the hub that may be gone in a moment. */
final class PassingFailure extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Duration wait;

    PassingFailure(String message) {
        this(message, Duration.ZERO);
    }

    /** With the time that the hub asks to wait. */
    PassingFailure(String message, Duration wait) {
        super(message);
        this.wait = wait;
    }

    PassingFailure(String message, Throwable cause) {
        super(message, cause);
        this.wait = Duration.ZERO;
    }

    Duration hubsWait() {
        return wait;
    }
}
