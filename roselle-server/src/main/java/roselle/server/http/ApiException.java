package roselle.server.http;

import java.io.Serial;
import java.time.Duration;

/** A refusal or a failure that a client is told of, in the words of its dialect. */
public final class ApiException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 2L;

    private final ErrorKind kind;
    private final int status;
    private final String field;
    private final Duration retryAfter;

    public ApiException(ErrorKind kind, String message) {
        this(kind, "", message);
    }

    /**
     * A refusal for one field.
     *
     * @param field the field at fault, or empty
     */
    public ApiException(ErrorKind kind, String field, String message) {
        this(kind, kind.status(), field, message, Duration.ZERO);
    }

    private ApiException(ErrorKind kind, int status, String field, String message, Duration retryAfter) {
        super(message);
        this.kind = kind;
        this.status = status;
        this.field = field;
        this.retryAfter = retryAfter;
    }

    /** One field cannot be honoured. */
    public static ApiException invalid(String field, String message) {
        return new ApiException(ErrorKind.INVALID, field, message);
    }

    /** A refusal with the time after which trying again makes sense. */
    public static ApiException busy(ErrorKind kind, String message, Duration retryAfter) {
        return new ApiException(kind, kind.status(), "", message, retryAfter);
    }

    /** A refusal by the transport, with its status. */
    static ApiException transport(int status, String message) {
        return new ApiException(ErrorKind.TRANSPORT, status, "", message, Duration.ZERO);
    }

    public ErrorKind kind() {
        return kind;
    }

    /** The status of HTTP, unless a dialect has another for it. */
    public int status() {
        return status;
    }

    /** The field at fault, or empty. */
    public String field() {
        return field;
    }

    /** Zero where trying again does not help. */
    public Duration retryAfter() {
        return retryAfter;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
