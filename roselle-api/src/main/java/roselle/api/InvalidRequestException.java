package roselle.api;

import java.io.Serial;

/** A request or an input that cannot be honoured as it stands; the caller can mend it. Its message is one line. */
public final class InvalidRequestException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public InvalidRequestException(String message) {
        super(OneLine.of(message));
    }

    public InvalidRequestException(String message, Throwable cause) {
        super(OneLine.of(message), cause);
    }
}
