package roselle.bench.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * A flight recording of Roselle as a Chrome trace, which Perfetto and chrome://tracing open.
 *
 * <p>Steps are slices of one track, with their plan, forward, sample and commit within; requests are slices from their
 * submission to their end with the wait in the queue and the prompt within; pauses of the collector have a track; running
 * and waiting requests and used pages are counters.
 */
public final class ChromeTrace {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int STEPS = 1;
    private static final int COLLECTOR = 2;
    private static final String REQUEST = "roselle.Request";

    private final JsonGenerator json;
    private long first = Long.MAX_VALUE;
    private int events;

    private ChromeTrace(JsonGenerator json) {
        this.json = json;
    }

    /** Turns a recording into a trace beside it; returns how many of Roselle's events it has. */
    public static int write(Path recording, Path trace) throws IOException {
        try (JsonGenerator json = MAPPER.createGenerator(Files.newOutputStream(trace))) {
            var chrome = new ChromeTrace(json);
            json.writeStartObject();
            json.writeStringProperty("displayTimeUnit", "ms");
            json.writeName("traceEvents");
            json.writeStartArray();
            chrome.name(STEPS, "steps");
            chrome.name(COLLECTOR, "garbage collector");
            chrome.first = firstMicros(recording);
            try (var file = new RecordingFile(recording)) {
                while (file.hasMoreEvents()) {
                    chrome.add(file.readEvent());
                }
            }
            json.writeEndArray();
            json.writeEndObject();
            return chrome.events;
        }
    }

    private static long firstMicros(Path recording) throws IOException {
        long first = Long.MAX_VALUE;
        try (var file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                first = Math.min(first, begin(file.readEvent()));
            }
        }
        return first == Long.MAX_VALUE ? 0 : first;
    }

    /** When an event began; a request does not begin with its event, which is written at its end. */
    private static long begin(RecordedEvent event) {
        boolean isRequest = event.getEventType().getName().equals(REQUEST);
        long before = isRequest ? event.getDuration("totalNanos").toNanos() / 1000 + 1 : 0;
        return isRequest
                ? Math.min(micros(event.getStartTime()), micros(event.getEndTime()) - before)
                : micros(event.getStartTime());
    }

    private void add(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "roselle.Step" -> step(event);
            case REQUEST -> request(event);
            case "jdk.GarbageCollection" ->
                slice(COLLECTOR, "collection", since(event.getStartTime()), nanos(event.getDuration()), Map.of());
            default -> {} // of the many others, these explain most
        }
    }

    private void step(RecordedEvent event) {
        events++;
        double start = since(event.getStartTime());
        Map<String, Object> arguments = values(event, List.of("rows", "sequences", "preempted"));
        slice(STEPS, "step " + event.getLong("number"), start, nanos(event.getDuration()), arguments);
        double at = start;
        for (String phase : List.of("plan", "forward", "sample", "commit")) {
            double length = nanos(event.getDuration(phase + "Nanos"));
            slice(STEPS, phase, at, length, Map.of());
            at += length;
        }
        counter("requests", start, values(event, List.of("running", "waiting")));
        counter("pages", start, values(event, List.of("usedPages")));
    }

    private static Map<String, Object> values(RecordedEvent event, List<String> names) {
        var values = new LinkedHashMap<String, Object>();
        names.forEach(name -> values.put(name, event.getInt(name)));
        return values;
    }

    private void request(RecordedEvent event) {
        events++;
        long id = event.getLong("id");
        double total = nanos(event.getDuration("totalNanos"));
        double end = since(event.getEndTime());
        double start = end - total;
        Map<String, Object> arguments = values(event, List.of("promptTokens", "cachedTokens", "outputTokens"));
        arguments.put("reason", String.valueOf(event.getString("reason")));
        span(id, "request " + id, start, total, arguments);
        double queue = nanos(event.getDuration("queueNanos"));
        double toFirst = nanos(event.getDuration("firstTokenNanos"));
        span(id, "queue", start, queue, Map.of());
        span(id, "prompt", start + queue, Math.max(0, toFirst - queue), Map.of());
        span(id, "answer", start + toFirst, Math.max(0, total - toFirst), Map.of());
    }

    /** A begin and an end of a track that requests have for themselves. */
    private void span(long id, String name, double start, double micros, Map<String, Object> arguments) {
        event("b", name, start, () -> {
            json.writeStringProperty("cat", "request");
            json.writeStringProperty("id", Long.toString(id));
            json.writePOJOProperty("args", arguments);
        });
        event("e", name, start + micros, () -> {
            json.writeStringProperty("cat", "request");
            json.writeStringProperty("id", Long.toString(id));
        });
    }

    private void slice(int track, String name, double start, double micros, Map<String, Object> arguments) {
        event("X", name, start, () -> {
            json.writeNumberProperty("dur", micros);
            json.writeNumberProperty("tid", track);
            json.writePOJOProperty("args", arguments);
        });
    }

    private void counter(String name, double at, Map<String, Object> values) {
        event("C", name, at, () -> json.writePOJOProperty("args", values));
    }

    private void name(int track, String name) {
        event("M", "thread_name", 0, () -> {
            json.writeNumberProperty("tid", track);
            json.writePOJOProperty("args", Map.of("name", name));
        });
    }

    private void event(String phase, String name, double at, Runnable further) {
        json.writeStartObject();
        json.writeStringProperty("ph", phase);
        json.writeStringProperty("name", name);
        json.writeNumberProperty("pid", 1);
        json.writeNumberProperty("ts", at);
        further.run();
        json.writeEndObject();
    }

    private double since(Instant moment) {
        return micros(moment) - first;
    }

    private static long micros(Instant moment) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, moment);
    }

    private static double nanos(Duration duration) {
        return duration.toNanos() / 1e3;
    }
}
