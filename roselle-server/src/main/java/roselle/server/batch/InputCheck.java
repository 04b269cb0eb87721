package roselle.server.batch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import roselle.server.batch.Batch.LineError;

/** Looks at all lines of an input before any is answered. */
final class InputCheck {
    static final int MAX_LINES = 50_000;
    static final long MAX_BYTES = 200L << 20;
    private static final int MAX_TOLD = 100;

    private final List<LineError> errors = new ArrayList<>();
    private int lines;

    private InputCheck() {}

    /** Reads the file; every line must be of {@code endpoint}, unless that is empty. */
    static InputCheck of(Path file, String endpoint, int longest) throws IOException {
        var check = new InputCheck();
        check.read(file, endpoint, longest);
        return check;
    }

    private void read(Path file, String endpoint, int longest) throws IOException {
        var ids = new HashSet<String>();
        try (var in = new JsonLines(file, longest + 1)) {
            for (byte[] line = in.next(); line != null && errors.size() < MAX_TOLD; line = in.next()) {
                lines++;
                if (lines > MAX_LINES) {
                    errors.add(new LineError(
                            0, "too_many_tasks", "the file has more than " + MAX_LINES + " requests: split it", ""));
                    return;
                }
                look(line, in.number(), endpoint, longest, ids);
            }
        }
        if (lines == 0) {
            errors.add(new LineError(0, "empty_file", "the file has no request", ""));
        }
    }

    private void look(byte[] line, int number, String endpoint, int longest, Set<String> ids) {
        if (line.length > longest) {
            errors.add(new LineError(
                    number, "line_too_long", "the line has more than " + longest + " bytes: shorten it", ""));
            return;
        }
        try {
            var request = RequestLine.read(line, number);
            if (!endpoint.isEmpty() && !request.path().equals(endpoint)) {
                errors.add(new LineError(
                        number, "mismatched_endpoint", "url is another than the batch's: " + endpoint, "url"));
            }
            if (!ids.add(request.customId())) {
                errors.add(new LineError(
                        number,
                        "duplicate_custom_id",
                        "the custom_id is that of an earlier line: give each its own",
                        "custom_id"));
            }
        } catch (RequestLine.Malformed malformed) {
            errors.add(malformed.error());
        }
    }

    /** The first that were found. */
    List<LineError> errors() {
        return List.copyOf(errors);
    }

    int lines() {
        return lines;
    }
}
