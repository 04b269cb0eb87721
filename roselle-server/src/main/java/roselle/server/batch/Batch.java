package roselle.server.batch;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.server.http.JsonWriter;
import tools.jackson.databind.JsonNode;

/**
 * A batch as the folder keeps it.
 *
 * @param order what was asked for
 * @param state what has become of it
 * @param times when it reached its states, in seconds since 1970
 * @param tally how many of its requests were answered, up to its state
 * @param outputFile empty while there is none, and where no request succeeded
 * @param errorFile empty while there is none, and where no request failed
 * @param errors why it failed as a whole
 */
record Batch(
        Order order,
        BatchState state,
        Map<BatchState, Long> times,
        Tally tally,
        String outputFile,
        String errorFile,
        List<LineError> errors) {

    /**
     * What was asked for.
     *
     * @param key whose it is; empty for nobody's
     * @param group whose share of the engine it takes
     * @param createdAt in seconds since 1970
     * @param expiresAt likewise: what has no answer then gets none
     * @param outputSeconds how long its output is kept
     */
    record Order(
            String id,
            String key,
            String group,
            String endpoint,
            String inputFile,
            long createdAt,
            long expiresAt,
            long outputSeconds,
            Map<String, String> metadata) {
        Order {
            metadata = Map.copyOf(metadata);
        }
    }

    /** Requests: all of them, those that were answered, those that were refused or failed. */
    record Tally(int total, int completed, int failed) {}

    /** What is wrong with a line of the input; line 0 for the whole of it. */
    record LineError(int line, String code, String message, String field) {}

    Batch {
        times = Map.copyOf(times);
        errors = List.copyOf(errors);
    }

    static Batch ordered(Order order) {
        return new Batch(
                order,
                BatchState.VALIDATING,
                Map.of(BatchState.VALIDATING, order.createdAt()),
                new Tally(0, 0, 0),
                "",
                "",
                List.of());
    }

    String id() {
        return order.id();
    }

    /** The same in another state. */
    Batch reached(BatchState next, long now) {
        var all = new EnumMap<BatchState, Long>(BatchState.class);
        all.putAll(times);
        all.put(next, now);
        return new Batch(order, next, all, tally, outputFile, errorFile, errors);
    }

    Batch with(Tally counted) {
        return new Batch(order, state, times, counted, outputFile, errorFile, errors);
    }

    Batch with(List<LineError> found) {
        return new Batch(order, state, times, tally, outputFile, errorFile, found);
    }

    Batch with(String output, String error) {
        return new Batch(order, state, times, tally, output, error, errors);
    }

    /** When it came to its end, or to its present state. */
    long since() {
        return times.getOrDefault(state, order.createdAt());
    }

    // ---- in the folder ----

    static Batch of(JsonNode json) {
        var times = new EnumMap<BatchState, Long>(BatchState.class);
        json.get("times")
                .properties()
                .forEach(time ->
                        times.put(BatchState.of(time.getKey()), time.getValue().longValue()));
        var metadata = new LinkedHashMap<String, String>();
        json.get("metadata")
                .properties()
                .forEach(each -> metadata.put(each.getKey(), each.getValue().stringValue()));
        var errors = new ArrayList<LineError>();
        json.get("errors")
                .values()
                .forEach(error -> errors.add(new LineError(
                        error.get("line").intValue(),
                        text(error, "code"),
                        text(error, "message"),
                        text(error, "field"))));
        var order = new Order(
                text(json, "id"),
                text(json, "key"),
                text(json, "group"),
                text(json, "endpoint"),
                text(json, "input"),
                json.get("created_at").longValue(),
                json.get("expires_at").longValue(),
                json.get("output_seconds").longValue(),
                metadata);
        var tally = new Tally(
                json.get("total").intValue(),
                json.get("completed").intValue(),
                json.get("failed").intValue());
        BatchState state = BatchState.of(text(json, "state"));
        return new Batch(order, state, times, tally, text(json, "output"), text(json, "error"), errors);
    }

    private static String text(JsonNode json, String field) {
        return json.get(field).stringValue();
    }

    void keep(JsonWriter json) {
        json.object()
                .field("id", order.id())
                .field("key", order.key())
                .field("group", order.group())
                .field("endpoint", order.endpoint())
                .field("input", order.inputFile())
                .field("created_at", order.createdAt())
                .field("expires_at", order.expiresAt())
                .field("output_seconds", order.outputSeconds())
                .object("metadata");
        order.metadata().forEach(json::field);
        json.endObject().field("state", state.word()).object("times");
        times.forEach((reached, time) -> json.field(reached.word(), time));
        json.endObject()
                .field("total", tally.total())
                .field("completed", tally.completed())
                .field("failed", tally.failed())
                .field("output", outputFile)
                .field("error", errorFile)
                .array("errors");
        for (LineError error : errors) {
            json.object()
                    .field("line", error.line())
                    .field("code", error.code())
                    .field("message", error.message())
                    .field("field", error.field())
                    .endObject();
        }
        json.endArray().endObject();
    }

    // ---- to clients ----

    JsonWriter tell(JsonWriter json) {
        json.object().field("id", order.id()).field("object", "batch").field("endpoint", order.endpoint());
        tellErrors(json);
        json.field("input_file_id", order.inputFile())
                .field("completion_window", "24h")
                .field("status", state.word())
                .fieldOrNull("output_file_id", outputFile)
                .fieldOrNull("error_file_id", errorFile)
                .field("created_at", order.createdAt())
                .field("expires_at", order.expiresAt());
        for (BatchState reached : BatchState.values()) {
            if (reached != BatchState.VALIDATING) {
                time(json, reached);
            }
        }
        json.object("request_counts")
                .field("total", tally.total())
                .field("completed", tally.completed())
                .field("failed", tally.failed())
                .endObject();
        if (order.metadata().isEmpty()) {
            return json.nullField("metadata").endObject();
        }
        json.object("metadata");
        order.metadata().forEach(json::field);
        return json.endObject().endObject();
    }

    private void time(JsonWriter json, BatchState reached) {
        String name = reached.word() + "_at";
        Long time = times.get(reached);
        if (time == null) {
            json.nullField(name);
        } else {
            json.field(name, time);
        }
    }

    private void tellErrors(JsonWriter json) {
        if (errors.isEmpty()) {
            json.nullField("errors");
            return;
        }
        json.object("errors").field("object", "list").array("data");
        for (LineError error : errors) {
            json.object().field("code", error.code());
            if (error.line() == 0) {
                json.nullField("line");
            } else {
                json.field("line", error.line());
            }
            json.field("message", error.message())
                    .fieldOrNull("param", error.field())
                    .endObject();
        }
        json.endArray().endObject();
    }
}
