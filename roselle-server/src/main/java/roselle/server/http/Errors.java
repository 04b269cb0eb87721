package roselle.server.http;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.regex.Pattern;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.api.GenerationEvent.Failed;
import roselle.api.InvalidRequestException;
import roselle.server.transport.RefusedException;

/** Says of every failure what kind of error it is; the one place that does. */
public final class Errors {
    private static final Duration SOON = Duration.ofSeconds(1);

    private static final Pattern FOLDERS = Pattern.compile("(?<![\\w.:/])(?:/[^/\\s:]+)+/(?=[^/\\s:])");

    private Errors() {}

    /** What the caller is told about a failure; of a defect of ours, without any detail. */
    public static ApiException of(Throwable failure) {
        return switch (failure) {
            case ApiException known -> known;
            case InvalidRequestException invalid -> invalid(invalid);
            case CapacityException full -> ApiException.busy(ErrorKind.OVERLOADED, message(full), SOON);
            case DeviceException device ->
                new ApiException(ErrorKind.ENGINE_UNAVAILABLE, withoutFolders(message(device)));
            case RefusedException malformed -> transport(malformed.status());
            case OutOfMemoryError _ ->
                ApiException.busy(ErrorKind.OVERLOADED, "the server ran out of memory: try again later", SOON);
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

    /** What is said of bytes that are no HTTP, or too many. */
    static ApiException transport(int status) {
        return switch (status) {
            case 413 ->
                new ApiException(ErrorKind.BODY_TOO_LARGE, "the body has more bytes than a request may: shorten it");
            case 505 ->
                new ApiException(
                        ErrorKind.HTTP_VERSION,
                        "the request is in another version of HTTP: send it in HTTP/1.1 or HTTP/2");
            default -> ApiException.transport(status, "the request was refused: " + reason(status));
        };
    }

    private static String reason(int status) {
        return switch (status) {
            case 414 -> "its first line is too long";
            case 431 -> "its headers are too many or too long";
            case 501 -> "its body is encoded in a way that is not known here";
            default -> "it is no HTTP as it may be sent";
        };
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

    /** A sentence whose paths are names of files: where they lie is for the log. */
    public static String withoutFolders(String sentence) {
        return FOLDERS.matcher(sentence).replaceAll("");
    }

    private static String message(RuntimeException failure) {
        return String.valueOf(failure.getMessage());
    }
}
