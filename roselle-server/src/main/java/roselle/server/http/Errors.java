package roselle.server.http;

import io.helidon.http.HttpException;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.api.GenerationEvent.Failed;
import roselle.api.InvalidRequestException;

/** Maps every failure to a status and an error object; the one place that does. */
public final class Errors {
    private static final String DEFECT = "internal_error";

    private static final Duration SOON = Duration.ofSeconds(1);

    private Errors() {}

    /** What the caller is told about a failure; of a defect of ours, without any detail. */
    public static ApiException of(Throwable failure) {
        return switch (failure) {
            case ApiException known -> known;
            case InvalidRequestException invalid -> invalid(invalid);
            case CapacityException full ->
                ApiException.busy(503, ApiException.SERVER_ERROR, "overloaded", message(full), SOON);
            case DeviceException device ->
                new ApiException(503, ApiException.SERVER_ERROR, "engine_unavailable", "", message(device));
            case RequestException malformed -> transport(malformed.status());
            case HttpException malformed -> transport(malformed.status());
            case CancellationException _ -> ending();
            default -> defect(failure);
        };
    }

    /** What the caller is told of a defect; its cause is for the log, also where an interceptor throws this on. */
    private static ApiException defect(Throwable failure) {
        var error = new ApiException(
                500,
                ApiException.SERVER_ERROR,
                DEFECT,
                "",
                "the server failed to answer; its log says why, under the id of this request");
        error.initCause(failure);
        return error;
    }

    /** The server is going away; another one may come in its place. */
    public static ApiException ending() {
        return ApiException.busy(
                503, ApiException.SERVER_ERROR, "ending", "the server is ending: try again later, or elsewhere", SOON);
    }

    /** What the web server below makes of bytes that are not HTTP. */
    static ApiException transport(Status status) {
        if (status.code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code()) {
            return new ApiException(
                    status.code(),
                    ApiException.INVALID_REQUEST,
                    "request_too_large",
                    "",
                    "the body has more bytes than a request may: shorten it");
        }
        if (status.code() == Status.HTTP_VERSION_NOT_SUPPORTED_505.code()) {
            return new ApiException(
                    status.code(),
                    ApiException.INVALID_REQUEST,
                    "http_version_not_supported",
                    "",
                    "the request is in HTTP/1.0: send it in HTTP/1.1 or HTTP/2");
        }
        String type = status.code() < 500 ? ApiException.INVALID_REQUEST : ApiException.SERVER_ERROR;
        return new ApiException(status.code(), type, "", "", "the request was refused: " + status.reasonPhrase());
    }

    /** Whether an error hides a defect of ours, which belongs into the log. */
    static boolean isDefect(ApiException error) {
        return error.code().equals(DEFECT);
    }

    /** What the caller is told when an accepted request fails. */
    public static ApiException of(Failed failed) {
        return failed.kind() == FailureKind.DEADLINE
                ? new ApiException(408, ApiException.SERVER_ERROR, "deadline_exceeded", "", failed.message())
                : of(failed.exception());
    }

    /** The error object of OpenAI's API. */
    public static JsonText body(ApiException error) {
        return new JsonText()
                .raw("{\"error\":{\"message\":")
                .string(error.getMessage())
                .raw(",\"type\":")
                .string(error.type())
                .raw(",\"param\":")
                .stringOrNull(error.parameter())
                .raw(",\"code\":")
                .stringOrNull(error.code())
                .raw("}}");
    }

    private static ApiException invalid(InvalidRequestException invalid) {
        return switch (invalid.reason()) {
            case CONTEXT_LENGTH ->
                new ApiException(
                        400,
                        ApiException.INVALID_REQUEST,
                        "context_length_exceeded",
                        invalid.field(),
                        message(invalid));
            case INVALID, OUT_OF_RANGE, UNSUPPORTED -> ApiException.invalid(invalid.field(), message(invalid));
        };
    }

    private static String message(RuntimeException failure) {
        return String.valueOf(failure.getMessage());
    }
}
