package roselle.server.batch;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** {@code /v1/files}: sent, listed, told of, read, removed. */
final class FileRoutes {
    static final String FILES = "/v1/files";
    private static final long FORM_BYTES = 1 << 20; // beside the file
    static final long LEAST_SECONDS = 3_600;
    static final long MOST_SECONDS = 2_592_000;
    private static final int MAX_NAME = 512;

    private final Answers answers;
    private final BatchDialect.Open open;

    FileRoutes(Answers answers, BatchDialect.Open open) {
        this.answers = answers;
        this.open = open;
    }

    void register(Routes routes) {
        routes.post(FILES, this::send)
                .get(FILES, this::list)
                .getBelow(FILES + "/", this::one)
                .getBelow(FILES + "/", "/content", this::content)
                .deleteBelow(FILES + "/", this::remove);
    }

    private void send(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            BatchStore store = open.store();
            long most = Math.min(InputCheck.MAX_BYTES, store.room());
            String type = exchange.requestHeader("content-type").orElse("");
            var form = new MultipartReader(type, exchange.bodyStream(InputCheck.MAX_BYTES + FORM_BYTES));
            String id = BatchStore.newFileId();
            boolean isKept = false;
            try {
                StoredFile file = read(form, id, admitted.key(), store, most);
                store.add(file);
                isKept = true;
                exchange.sendJson(200, file.tell(new JsonWriter()));
            } finally {
                if (!isKept) {
                    Files.deleteIfExists(store.path(id));
                }
            }
        }
    }

    private static StoredFile read(MultipartReader form, String id, String key, BatchStore store, long most)
            throws IOException {
        var fields = new TreeMap<String, String>();
        Optional<String> name = Optional.empty();
        long bytes = 0;
        for (var part = form.next(); part.isPresent(); part = form.next()) {
            String field = part.get().name();
            if (field.equals("file")) {
                if (name.isPresent()) {
                    throw ApiException.invalid("file", "the form has two files: send one");
                }
                name = Optional.of(part.get().fileName().orElse("file.jsonl"));
                bytes = copy(form, store.path(id), most);
            } else if (fields.put(field, form.text(field, 100)) != null) {
                throw ApiException.invalid(field, "the form has " + field + " twice");
            }
        }
        if (name.isEmpty()) {
            throw new ApiException(ErrorKind.MISSING_FIELD, "file", "file is missing: it is required");
        }
        String called = name.get();
        if (called.length() > MAX_NAME) {
            throw ApiException.invalid("file", "the file's name has more than " + MAX_NAME + " characters");
        }
        requirePurpose(fields.remove("purpose"));
        long seconds = seconds(fields);
        if (!fields.isEmpty()) {
            String other = fields.firstKey();
            throw new ApiException(
                    ErrorKind.UNKNOWN_FIELD,
                    other,
                    "unknown field " + other + ": it would have no effect, so leave it out");
        }
        long now = store.now();
        return new StoredFile(id, key, called, "batch", bytes, now, now + seconds);
    }

    private static long copy(MultipartReader form, Path file, long most) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            return form.copy(out, most);
        } catch (ApiException tooLong) {
            throw tooLong.kind() == ErrorKind.BODY_TOO_LARGE
                    ? new ApiException(
                            ErrorKind.BODY_TOO_LARGE,
                            "the file has more than " + most
                                    + " bytes, the most that one may have and that there is room for")
                    : tooLong;
        }
    }

    private static void requirePurpose(@Nullable String purpose) {
        if (purpose == null) {
            throw new ApiException(ErrorKind.MISSING_FIELD, "purpose", "purpose is missing: it must be batch");
        }
        if (!purpose.equals("batch")) {
            throw ApiException.invalid("purpose", "purpose is another than batch: files are for nothing else here");
        }
    }

    private static long seconds(Map<String, String> fields) {
        String anchor = fields.remove("expires_after[anchor]");
        String seconds = fields.remove("expires_after[seconds]");
        if (anchor == null && seconds == null) {
            return BatchStore.FILE_SECONDS;
        }
        if (anchor == null || !anchor.equals("created_at")) {
            throw ApiException.invalid("expires_after[anchor]", "expires_after[anchor] must be created_at");
        }
        long value = seconds == null ? 0 : number(seconds);
        if (value < LEAST_SECONDS || value > MOST_SECONDS) {
            throw new ApiException(
                    ErrorKind.OUT_OF_RANGE,
                    "expires_after[seconds]",
                    "expires_after[seconds] must be between " + LEAST_SECONDS + " and " + MOST_SECONDS);
        }
        return value;
    }

    /** A number of few digits; 0 for anything else. */
    private static long number(String text) {
        boolean isNumber =
                !text.isEmpty() && text.length() <= 9 && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        return isNumber ? Long.parseLong(text) : 0;
    }

    private void list(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            Optional<String> purpose = exchange.query("purpose");
            List<StoredFile> files = open.store().files(admitted.key()).stream()
                    .filter(file -> purpose.isEmpty() || purpose.get().equals(file.purpose()))
                    .toList();
            Pages.send(exchange, files, 10_000, StoredFile::id, StoredFile::tell);
        }
    }

    private void one(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            exchange.sendJson(
                    200, open.store().file(exchange.rest(), admitted.key()).tell(new JsonWriter()));
        }
    }

    private void content(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            StoredFile file = open.store().file(exchange.rest(), admitted.key());
            exchange.refuseOtherQueries();
            exchange.sendFile(open.store().path(file.id()), "application/octet-stream");
        }
    }

    private void remove(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            String id = exchange.rest();
            open.store().remove(id, admitted.key());
            exchange.sendJson(
                    200,
                    new JsonWriter()
                            .object()
                            .field("id", id)
                            .field("object", "file")
                            .field("deleted", true)
                            .endObject());
        }
    }
}
