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

/** Says of every failure what kind of error it is; the one place that does. */
public final class Errors {
    private static final Duration SOON = Duration.ofSeconds(1);

    private Errors() {}

    /** What the caller is told about a failure; of a defect of ours, without any detail. */
    public static ApiException of(Throwable failure) {
        return switch (failure) {
            case ApiException known -> known;
            case InvalidRequestException invalid -> invalid(invalid);
            case CapacityException full -> ApiException.busy(ErrorKind.OVERLOADED, message(full), SOON);
            case DeviceException device -> new ApiException(ErrorKind.ENGINE_UNAVAILABLE, message(device));
            case RequestException malformed -> transport(malformed.status());
            case HttpException malformed -> transport(malformed.status());
            case CancellationException _ -> ending();
            default -> defect(failure);
        };
    }

    /** What the caller is told of a defect; its cause is for the log, also where an interceptor throws this on. */
    private static ApiException defect(Throwable failure) {
        var error = new ApiException(
                ErrorKind.DEFECT, "the server failed to answer; its log says why, under the id of this request");
        error.initCause(failure);
        return error;
    }

    /** The server is going away; another one may come in its place. */
    public static ApiException ending() {
        return ApiException.busy(ErrorKind.ENDING, "the server is ending: try again later, or elsewhere", SOON);
    }

    /** What the web server below makes of bytes that are not HTTP. */
    static ApiException transport(Status status) {
        if (status.code() == Status.REQUEST_ENTITY_TOO_LARGE_413.code()) {
            return new ApiException(ErrorKind.BODY_TOO_LARGE, "the body has more bytes than a request may: shorten it");
        }
        if (status.code() == Status.HTTP_VERSION_NOT_SUPPORTED_505.code()) {
            return new ApiException(
                    ErrorKind.HTTP_VERSION, "the request is in HTTP/1.0: send it in HTTP/1.1 or HTTP/2");
        }
        return ApiException.transport(status.code(), "the request was refused: " + status.reasonPhrase());
    }

    /** What the caller is told when an accepted request fails. */
    public static ApiException of(Failed failed) {
        return failed.kind() == FailureKind.DEADLINE
                ? new ApiException(ErrorKind.DEADLINE, failed.message())
                : of(failed.exception());
    }

    private static ApiException invalid(InvalidRequestException invalid) {
        ErrorKind kind = switch (invalid.reason()) {
            case CONTEXT_LENGTH -> ErrorKind.CONTEXT_LENGTH;
            case INVALID, OUT_OF_RANGE, UNSUPPORTED -> ErrorKind.INVALID;
        };
        return new ApiException(kind, invalid.field(), message(invalid));
    }

    private static String message(RuntimeException failure) {
        return String.valueOf(failure.getMessage());
    }
}
