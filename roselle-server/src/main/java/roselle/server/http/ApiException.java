package roselle.server.http;

import java.io.Serial;
import java.time.Duration;

/** A refusal that is already in terms of HTTP and of OpenAI's error object. */
public final class ApiException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public static final String INVALID_REQUEST = "invalid_request_error";
    public static final String SERVER_ERROR = "server_error";

    private final int status;
    private final String type;
    private final String code;
    private final String parameter;
    private final Duration retryAfter;

    /**
     * A refusal.
     *
     * @param code OpenAI's code, or empty
     * @param parameter the field at fault, or empty
     */
    public ApiException(int status, String type, String code, String parameter, String message) {
        this(status, type, code, parameter, message, Duration.ZERO);
    }

    private ApiException(int status, String type, String code, String parameter, String message, Duration retryAfter) {
        super(message);
        this.status = status;
        this.type = type;
        this.code = code;
        this.parameter = parameter;
        this.retryAfter = retryAfter;
    }

    /** 400: one field cannot be honoured. */
    public static ApiException invalid(String parameter, String message) {
        return new ApiException(400, INVALID_REQUEST, "", parameter, message);
    }

    /** 404. */
    public static ApiException notFound(String message) {
        return new ApiException(404, INVALID_REQUEST, "not_found", "", message);
    }

    /** 429 or 503 with the time after which trying again makes sense. */
    public static ApiException busy(int status, String type, String code, String message, Duration retryAfter) {
        return new ApiException(status, type, code, "", message, retryAfter);
    }

    public int status() {
        return status;
    }

    public String type() {
        return type;
    }

    public String code() {
        return code;
    }

    public String parameter() {
        return parameter;
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
