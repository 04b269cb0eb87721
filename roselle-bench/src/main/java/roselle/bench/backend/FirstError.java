package roselle.bench.backend;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What the output of a program tells of its end: its last lines, after the error that they may only point at.
 *
 * <p>vLLM's server, for one, ends with {@code RuntimeError: Engine core initialization failed. See root cause above}; the
 * cause is the first error that the processes it started wrote, some hundred lines before.
 */
final class FirstError {
    private static final int LINES = 5;
    private static final int LONGEST_LINE = 600;
    private static final int MAX_BYTES = 1 << 20;

    /** An exception of Python at the beginning of a line, or behind what a logger puts there: {@code (pid=7) ERROR [a.py:3]}. */
    private static final Pattern ERROR =
            Pattern.compile("(?:^|[\\])] )((?:\\w{1,80}\\.){0,9}\\w{0,80}(?:Error|Exception): .+)");

    private FirstError() {}

    /** For a message, in one line. */
    static String of(Path log) {
        List<String> all = lines(log);
        if (all.isEmpty()) {
            return "it wrote nothing";
        }
        List<String> last = all.subList(Math.max(0, all.size() - LINES), all.size());
        String end = String.join(" | ", last);
        return firstError(all)
                .filter(error -> !end.contains(error))
                .map(error -> error + " | … | " + end)
                .orElse(end);
    }

    private static Optional<String> firstError(List<String> lines) {
        return lines.stream()
                .map(ERROR::matcher)
                .filter(matcher -> matcher.find())
                .map(matcher -> matcher.group(1))
                .findFirst();
    }

    /** The lines at the end of the file that are not blank, long ones cut. */
    private static List<String> lines(Path log) {
        try (var file = new RandomAccessFile(log.toFile(), "r")) {
            long length = file.length();
            var bytes = new byte[(int) Math.min(length, MAX_BYTES)];
            file.seek(length - bytes.length);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .map(line -> line.length() > LONGEST_LINE ? line.substring(0, LONGEST_LINE) + "…" : line)
                    .toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
