package roselle.server.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/**
 * Whether each request that was answered is told in a line: who asked what, how it ended and what it took, never what was said.
 *
 * @param format how a line looks
 * @param lines takes each line, on the request's thread, from several at a time
 */
public record LogOptions(Format format, Consumer<String> lines) {
    /** How a line of a request looks. */
    public enum Format {
        /** There are no lines. */
        NONE,
        /** {@code key=value}, separated by spaces. */
        TEXT,
        /** An object. */
        JSON
    }

    public static final LogOptions NONE = new LogOptions(Format.NONE, _ -> {});

    /** The format of a name: {@code none}, {@code text} or {@code json}. */
    public static Format format(String name) {
        return Arrays.stream(Format.values())
                .filter(format -> name(format).equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("access-log is " + name + ": it must be one of "
                        + Arrays.stream(Format.values()).map(LogOptions::name).collect(Collectors.joining(", "))));
    }

    private static String name(Format format) {
        return format.name().toLowerCase(Locale.ROOT);
    }
}
