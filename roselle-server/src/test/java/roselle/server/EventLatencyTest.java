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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.backend.DeviceOptions;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;

/**
 * How long a token takes from the engine's thread to the socket.
 *
 * <p>The flight recorder's clock stamps both ends: the logits that the token is taken from have been read, and the write to the
 * socket has returned. Between them lie the choice of the likeliest token, the engine's bookkeeping, the hand-off to the
 * request's virtual thread, its wake-up, the decoding to text, the search for stop strings, the chunk and the write.
 */
final class EventLatencyTest {
    private static final int TOKENS = 300;
    private static final long GOAL_MICROS = 50;

    /** The engine has read the logits of a step. */
    @Name("roselle.test.LogitsRead")
    @StackTrace(false)
    static final class LogitsRead extends Event {}

    @TempDir
    private Path folder;

    @Test
    void writesATokenSoonAfterItIsMade() throws IOException {
        assertThat(bestTenth(5, 20_000))
                .as("a write that waits for an acknowledgement takes 40 ms, in every round")
                .isLessThan(20_000);
    }

    @Test
    @Tag("long")
    void writesItWithinAQuarterOfAMillisecondOnceTheCodeIsCompiled() throws IOException {
        assertThat(bestTenth(30, GOAL_MICROS))
                .as("five times the goal, for slow and busy machines")
                .isLessThan(5 * GOAL_MICROS);
    }

    /**
     * The least of some rounds' tenth percentiles, in microseconds; no round follows one that is as good as it should be.
     *
     * <p>What the code takes, each token takes; what other programs take of the processors, the quickest tenth is spared.
     */
    private long bestTenth(int rounds, long goodMicros) throws IOException {
        var config =
                EngineConfig.of(DemoServer.demo()).with(new DeviceOptions("cpu", 1)); // leaves a core to the server
        var engine = HookedEngine.open(config, () -> new LogitsRead().commit());
        long best = Long.MAX_VALUE;
        try (var demo = new DemoServer(engine)) {
            stream(demo); // warms up
            for (int round = 0; round < rounds && best >= goodMicros; round++) {
                List<Long> micros = new ArrayList<>(measured(demo, folder.resolve(round + ".jfr")));
                micros.sort(null);
                assertThat(micros).hasSizeGreaterThan(TOKENS / 2);
                long median = micros.get(micros.size() / 2);
                best = Math.min(best, micros.get(micros.size() / 10));
                System.out.printf(
                        "event to socket: p10 %d us, median %d us, p90 %d us of %d tokens%n",
                        micros.get(micros.size() / 10), median, micros.get(micros.size() * 9 / 10), micros.size());
            }
        }
        return best;
    }

    private static void stream(DemoServer demo) {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story.\"}],\"ignore_eos\":true,\"temperature\":0,"
                        + "\"stream\":true,\"max_tokens\":" + TOKENS + "}");
        assertThat(response.body()).endsWith("data: [DONE]\n\n");
    }

    private static List<Long> measured(DemoServer demo, Path file) throws IOException {
        try (var recording = new Recording()) {
            recording.enable(LogitsRead.class);
            recording.enable("jdk.SocketWrite").withThreshold(Duration.ZERO).withoutStackTrace();
            recording.start();
            stream(demo);
            recording.stop();
            recording.dump(file);
        }
        return delays(RecordingFile.readAllEvents(file));
    }

    /** For each write of a token the time since the logits before it, in microseconds. */
    private static List<Long> delays(List<RecordedEvent> events) {
        var read = new TreeSet<Instant>();
        var written = new ArrayList<Instant>();
        for (RecordedEvent event : events) {
            if (event.getEventType().getName().equals("jdk.SocketWrite")) {
                if (event.getLong("bytesWritten") > 200) { // a chunk, neither a request's head nor the end
                    written.add(event.getEndTime());
                }
            } else {
                read.add(event.getStartTime());
            }
        }
        return written.stream()
                .filter(end -> read.floor(end) != null)
                .map(end -> Duration.between(read.floor(end), end).toNanos() / 1000)
                .toList();
    }
}
