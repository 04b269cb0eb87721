package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.hub.BundledModel;

/** What a recording holds of an engine's steps and requests. */
final class FlightRecordingTest {
    private static final int TOKENS = 5;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void holdsEachStepAndEachRequest() throws IOException {
        long steps;
        Path file = folder.resolve("engine.jfr");
        try (var recording = new Recording()) {
            recording.start();
            try (var engine = Engine.open(TestConfig.of(BundledModel.DEMO.unpackInto(folder)))) {
                generate(engine);
                steps = engine.status().totals().steps();
            }
            recording.stop();
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        RecordedEvent request = named(events, "roselle.Request").getFirst();
        List<RecordedEvent> recorded = named(events, "roselle.Step");

        assertThat(request.getInt("outputTokens")).isEqualTo(TOKENS);
        assertThat(request.getString("reason")).isEqualTo("LENGTH");
        assertThat(request.getLong("totalNanos")).isGreaterThanOrEqualTo(request.getLong("firstTokenNanos"));
        assertThat(recorded).hasSizeGreaterThanOrEqualTo(TOKENS).hasSizeLessThanOrEqualTo((int) steps + 1);
        assertThat(recorded).allSatisfy(step -> {
            assertThat(step.getInt("rows")).isPositive();
            assertThat(step.getLong("forwardNanos")).isPositive();
            assertThat(step.getLong("totalPages")).isPositive();
        });
    }

    private static void generate(Engine engine) {
        var request = GenerationRequest.builder()
                .user("Tell me a story.")
                .maxTokens(TOKENS)
                .ignoreEos(true)
                .build();
        try (var generation = engine.submit(request)) {
            generation.text();
        }
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }
}
