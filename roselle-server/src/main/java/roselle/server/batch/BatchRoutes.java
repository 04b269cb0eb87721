package roselle.server.batch;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** {@code /v1/batches}: ordered, listed, told of, cancelled. */
final class BatchRoutes {
    static final String BATCHES = "/v1/batches";
    private static final String WINDOW = "24h";
    private static final long WINDOW_SECONDS = Duration.ofHours(24).toSeconds();
    private static final int MAX_PAIRS = 16;
    private static final int MAX_NAME = 64;
    private static final int MAX_VALUE = 512;

    private final Answers answers;
    private final BatchDialect.Open open;

    BatchRoutes(Answers answers, BatchDialect.Open open) {
        this.answers = answers;
        this.open = open;
    }

    void register(Routes routes) {
        routes.post(BATCHES, this::order)
                .get(BATCHES, this::list)
                .getBelow(BATCHES + "/", this::one)
                .postBelow(BATCHES + "/", "/cancel", this::cancel);
    }

    private void order(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            BatchStore store = open.store();
            String input = fields.requiredString("input_file_id");
            String endpoint = fields.requiredString("endpoint");
            if (!RequestLine.PATHS.contains(endpoint)) {
                throw ApiException.invalid(
                        "endpoint",
                        "endpoint is none that batches may be of: "
                                + String.join(
                                        ", ",
                                        RequestLine.PATHS.stream().sorted().toList()));
            }
            if (!fields.requiredString("completion_window").equals(WINDOW)) {
                throw ApiException.invalid("completion_window", "completion_window must be " + WINDOW);
            }
            Map<String, String> metadata = metadata(fields);
            long seconds = outputSeconds(fields);
            fields.refuseOthers();
            StoredFile file = store.file(input, admitted.key());
            if (!file.purpose().equals("batch")) {
                throw ApiException.invalid("input_file_id", "input_file_id is a file with another purpose than batch");
            }
            long now = store.now();
            Batch batch = store.add(new Batch.Order(
                    BatchRunner.newId(),
                    admitted.key(),
                    admitted.group(),
                    endpoint,
                    input,
                    now,
                    now + WINDOW_SECONDS,
                    seconds,
                    metadata));
            open.runner().start(batch);
            exchange.sendJson(200, batch.tell(new JsonWriter()));
        }
    }

    private static Map<String, String> metadata(JsonFields fields) {
        var metadata = new LinkedHashMap<String, String>();
        fields.object("metadata")
                .ifPresent(pairs -> pairs.plain().forEach((name, value) -> {
                    if (!(value instanceof String text) || text.length() > MAX_VALUE || name.length() > MAX_NAME) {
                        throw ApiException.invalid(
                                "metadata",
                                "metadata must have texts of at most " + MAX_VALUE
                                        + " characters under names of at most " + MAX_NAME);
                    }
                    metadata.put(name, text);
                }));
        if (metadata.size() > MAX_PAIRS) {
            throw ApiException.invalid(
                    "metadata", "metadata has " + metadata.size() + " entries: at most " + MAX_PAIRS);
        }
        return metadata;
    }

    private static long outputSeconds(JsonFields fields) {
        var after = fields.object("output_expires_after");
        if (after.isEmpty()) {
            return BatchStore.FILE_SECONDS;
        }
        if (!after.get().requiredString("anchor").equals("created_at")) {
            throw ApiException.invalid("output_expires_after.anchor", "output_expires_after.anchor must be created_at");
        }
        long seconds = after.get()
                .longInteger("seconds", FileRoutes.LEAST_SECONDS, FileRoutes.MOST_SECONDS)
                .orElseThrow(() -> after.get().missing("seconds"));
        after.get().refuseOthers();
        return seconds;
    }

    private void list(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            BatchRunner runner = open.runner();
            Pages.send(
                    exchange,
                    open.store().batches(admitted.key()),
                    100,
                    Batch::id,
                    (batch, json) -> runner.counted(batch).tell(json));
        }
    }

    private void one(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            tell(exchange, open.store().batch(exchange.rest(), admitted.key()));
        }
    }

    private void cancel(Exchange exchange) {
        try (var admitted = answers.admit(exchange)) {
            Batch batch = open.store().cancel(exchange.rest(), admitted.key());
            open.runner().cancelled(batch.id());
            tell(exchange, batch);
        }
    }

    private void tell(Exchange exchange, Batch batch) {
        exchange.sendJson(200, open.runner().counted(batch).tell(new JsonWriter()));
    }
}
