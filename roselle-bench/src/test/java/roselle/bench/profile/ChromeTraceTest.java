package roselle.bench.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class ChromeTraceTest {
    @TempDir
    private Path folder;

    @Test
    void hasEachStepWithItsPhasesAndEachRequest() throws IOException {
        Path recorded = folder.resolve("engine.jfr");
        Path model = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        try (var recording = new Recording()) {
            recording.enable("roselle.Step");
            recording.enable("roselle.Request");
            recording.start();
            try (var engine = Engine.open(EngineConfig.of(model))) { // it has written its last event once it is closed
                answerOnce(engine);
            }
            recording.stop();
            recording.dump(recorded);
        }
        Path trace = folder.resolve("engine.json");

        assertThat(ChromeTrace.write(recorded, trace)).isGreaterThanOrEqualTo(5);

        JsonNode events = new JsonMapper().readTree(Files.readAllBytes(trace)).path("traceEvents");
        assertThat(count(events, "X", "forward")).isGreaterThanOrEqualTo(4);
        assertThat(count(events, "X", "sample")).isEqualTo(count(events, "X", "forward"));
        assertThat(count(events, "b", "answer")).isEqualTo(1);
        assertThat(count(events, "e", "answer")).isEqualTo(1);
        assertThat(count(events, "C", "pages")).isPositive();
        assertThat(events)
                .allSatisfy(event -> assertThat(event.path("ts").asDouble(-1)).isNotNegative());
    }

    private static void answerOnce(Engine engine) {
        var request = GenerationRequest.builder()
                .tokens(5, 6, 7)
                .maxTokens(4)
                .ignoreEos(true)
                .build();
        try (var generation = engine.submit(request)) {
            generation.text();
        }
    }

    private static long count(JsonNode events, String phase, String name) {
        return StreamSupport.stream(events.spliterator(), false)
                .filter(event -> event.path("ph").asString("").equals(phase)
                        && event.path("name").asString("").equals(name))
                .count();
    }
}
