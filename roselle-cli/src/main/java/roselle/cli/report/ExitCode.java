package roselle.cli.report;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.BackendException;
import roselle.hub.request.HubException;
import roselle.mcp.McpException;

/** What the process's exit status tells a script; the one place that maps failures to it. */
public enum ExitCode {
    OK(0),
    /** Some of what was to be compared or verified does not agree. */
    DIFFERENT(1),
    USAGE(2),
    BAD_DATA(65),
    NOT_FOUND(66),
    /** A device, a port or the memory is not available. */
    UNAVAILABLE(69),
    INTERNAL(70),
    DISK(74),
    /** The network failed; trying again resumes. */
    NETWORK(75),
    NOT_AUTHORISED(77);

    private final int status;

    ExitCode(int status) {
        this.status = status;
    }

    public int status() {
        return status;
    }

    /** The code for a failure that reached the top of a command. */
    public static ExitCode of(Throwable failure) {
        return switch (unwrapped(failure)) {
            case ParameterException _ -> USAGE;
            case CheckpointException checkpoint -> ofUnreadable(checkpoint.getCause());
            case InvalidRequestException invalid -> ofUnreadable(invalid.getCause());
            case HubException hub -> ofHub(hub);
            case CapacityException _, DeviceException _, BackendException _, McpException _, OutOfMemoryError _ ->
                UNAVAILABLE;
            case IOException input -> ofInput(input);
            default -> INTERNAL;
        };
    }

    /** One sentence for people: what failed, with which value, and what to do. */
    public static String sentence(Throwable failure) {
        return switch (unwrapped(failure)) {
            case NoSuchFileException missing -> missing.getFile() + ": no such file or folder";
            case AccessDeniedException denied -> denied.getFile() + ": permission denied";
            case OutOfMemoryError memory -> "not enough memory (" + memory.getMessage() + ")";
            case Throwable known when of(known) != INTERNAL -> describe(known);
            case Throwable defect -> internal(defect);
        };
    }

    /**
     * Makes a value from options; a value that the engine refuses is then a misuse of the command line (exit 2), not
     * bad data.
     */
    public static <T> T checkingOptions(CommandLine command, Supplier<T> maker) {
        try {
            return maker.get();
        } catch (InvalidRequestException refused) {
            throw new ParameterException(command, describe(refused), refused);
        }
    }

    /** The failure itself, without the wrappers that only carry it across a lambda or a thread. */
    private static Throwable unwrapped(Throwable failure) {
        boolean isWrapper = failure instanceof UncheckedIOException || failure instanceof ExecutionException;
        Throwable cause = isWrapper ? failure.getCause() : null;
        return cause == null ? failure : unwrapped(cause);
    }

    /** Bad content is bad data, but a file that cannot be opened at all has a code of its own. */
    private static ExitCode ofUnreadable(@Nullable Throwable cause) {
        return switch (cause) {
            case NoSuchFileException _, FileNotFoundException _ -> NOT_FOUND;
            case AccessDeniedException _ -> NOT_AUTHORISED;
            case null, default -> BAD_DATA;
        };
    }

    private static ExitCode ofHub(HubException failure) {
        return switch (failure.kind()) {
            case NOT_FOUND -> NOT_FOUND;
            case NOT_AUTHORISED -> NOT_AUTHORISED;
            case TRY_AGAIN -> NETWORK;
            case BAD_DATA -> BAD_DATA;
            case DISK -> DISK;
        };
    }

    private static ExitCode ofInput(IOException failure) {
        return switch (failure) {
            case NoSuchFileException _, FileNotFoundException _ -> NOT_FOUND;
            case AccessDeniedException _ -> NOT_AUTHORISED;
            case BindException _ -> UNAVAILABLE;
            case SocketException _, UnknownHostException _, HttpTimeoutException _ -> NETWORK;
            default -> DISK;
        };
    }

    private static String internal(Throwable failure) {
        return "internal error: " + failure + "; this is a defect of Roselle, --debug prints where it happened";
    }

    private static String describe(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
