package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.DeviceOptions;
import roselle.engine.HookedEngine;

/**
 * How long a token takes from the engine's thread to the socket.
 *
 * <p>The flight recorder's clock stamps both ends: the engine's turn that follows at once on handing tokens over, and the return
 * of the write to the socket. Between them lie the hand-off to the request's virtual thread, its wake-up, the decoding to text,
 * the search for stop strings, the chunk and the write.
 */
final class EventLatencyTest {
    private static final int TOKENS = 300;

    /** The engine has handed over what its last step made. */
    @Name("roselle.test.HandedOver")
    @StackTrace(false)
    static final class HandedOver extends Event {}

    @TempDir
    private Path folder;

    @Test
    void writesATokenSoonAfterItIsMade() throws IOException {
        var config =
                EngineConfig.of(DemoServer.demo()).with(new DeviceOptions("cpu", 1)); // leaves a core to the server
        var engine = HookedEngine.open(config, () -> new HandedOver().commit());
        try (var demo = new DemoServer(engine)) {
            stream(demo); // warms up
            List<Long> micros = new ArrayList<>(measured(demo, folder.resolve("writes.jfr")));
            micros.sort(null);

            long median = micros.get(micros.size() / 2);
            System.out.printf(
                    "event to socket: p10 %d us, median %d us, p90 %d us of %d tokens%n",
                    micros.get(micros.size() / 10), median, micros.get(micros.size() * 9 / 10), micros.size());
            assertThat(micros).hasSizeGreaterThan(TOKENS / 2);
            assertThat(median)
                    .as("a write that waits for an acknowledgement takes 40 ms")
                    .isLessThan(20_000);
        }
    }

    private static void stream(DemoServer demo) {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story.\"}],\"ignore_eos\":true,"
                        + "\"stream\":true,\"max_tokens\":" + TOKENS + "}");
        assertThat(response.body()).endsWith("data: [DONE]\n\n");
    }

    private static List<Long> measured(DemoServer demo, Path file) throws IOException {
        try (var recording = new Recording()) {
            recording.enable(HandedOver.class);
            recording.enable("jdk.SocketWrite").withThreshold(Duration.ZERO).withoutStackTrace();
            recording.start();
            stream(demo);
            recording.stop();
            recording.dump(file);
        }
        return delays(RecordingFile.readAllEvents(file));
    }

    /** For each write of a token the time since the hand-over before it, in microseconds. */
    private static List<Long> delays(List<RecordedEvent> events) {
        var handedOver = new TreeSet<Instant>();
        var written = new ArrayList<Instant>();
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals("jdk.SocketWrite")) {
                if (event.getLong("bytesWritten") > 200) { // a chunk, neither a request's head nor the end
                    written.add(event.getEndTime());
                }
            } else {
                handedOver.add(event.getStartTime());
            }
        }
        return written.stream()
                .filter(end -> handedOver.floor(end) != null)
                .map(end -> Duration.between(handedOver.floor(end), end).toNanos() / 1000)
                .toList();
    }
}
