package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.server.config.ServerConfig;

/** Streams as bytes on a connection. */
final class StreamTest {
    private static final String STORY =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi.\"}],\"stream\":true,\"ignore_eos\":true,\"max_tokens\":";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer(ServerConfig.DEFAULT, new Pace());
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void keepsTheConnectionForTheNextStream() throws IOException {
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), demo.server().port())) {
            for (int round = 0; round < 3; round++) {
                post(socket, STORY + "3}");

                String answer = readUntil(socket.getInputStream(), "\r\n0\r\n\r\n");

                assertThat(answer).startsWith("HTTP/1.1 200 OK").contains("data: [DONE]\n\n");
            }
        }
    }

    @Test
    void sendsTheFirstTokenWhileTheRestIsMade() throws IOException {
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), demo.server().port())) {
            demo.pace().slow(Duration.ofMillis(20)); // all tokens take 18 seconds
            long before = demo.engine().status().totals().generatedTokens();
            post(socket, STORY + "900}");

            readUntil(socket.getInputStream(), "\"content\":\"");

            assertThat(demo.engine().status().totals().generatedTokens() - before)
                    .isLessThan(900);
        } finally {
            demo.pace().go();
        }
    }

    /** As the guide says: until then there is nothing, and what fails has a status. */
    @Test
    void theEventOfTheRoleLeavesTogetherWithThatOfTheFirstToken() throws IOException {
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), demo.server().port())) {
            socket.setSoTimeout(60_000);
            InputStream in = socket.getInputStream();
            demo.pace().hold();
            post(socket, STORY + "2}");
            DemoServer.await(demo.pace()::holdsAStep);
            assertThat(in.available()).as("what is sent before a token is made").isZero();
            demo.pace().go();

            readUntil(in, "\r\n\r\n");
            String size = readUntil(in, "\r\n").strip();
            String chunk = new String(in.readNBytes(Integer.parseInt(size, 16)), StandardCharsets.UTF_8);

            var events = DemoServer.events(chunk);
            assertThat(events).as(chunk).hasSize(2);
            assertThat(DemoServer.json(events.get(0)).at("/choices/0/delta").toString())
                    .isEqualTo("{\"role\":\"assistant\",\"content\":\"\"}");
            assertThat(DemoServer.json(events.get(1))
                            .at("/choices/0/delta/content")
                            .stringValue())
                    .isNotEmpty();
        } finally {
            demo.pace().go();
        }
    }

    @Test
    void refusesWithAStatusWhatFailsBeforeTheFirstToken() {
        var response = demo.post("/v1/chat/completions", STORY + "100000}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("context_length_exceeded");
    }

    @Test
    void tellsOfAFailureWithALastEventAndNoDone() throws IOException {
        try (var dying = new DemoServer(ServerConfig.DEFAULT, new Pace());
                var socket = new Socket(
                        InetAddress.getLoopbackAddress(), dying.server().port())) {
            dying.pace().slow(Duration.ofMillis(20));
            post(socket, STORY + "900}");
            readUntil(socket.getInputStream(), "\"content\":\"");

            dying.engine().close();

            String rest = readUntil(socket.getInputStream(), "\r\n0\r\n\r\n");
            assertThat(rest).contains("data: {\"error\":{\"message\":\"the engine was closed\"");
            assertThat(rest).doesNotContain("[DONE]");
        }
    }

    private static void post(Socket socket, String body) throws IOException {
        String head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
                .formatted(body.length());
        socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    private static String readUntil(InputStream in, String end) throws IOException {
        var text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            int next = in.read();
            assertThat(next).as("the stream ended after: " + text).isNotNegative();
            text.append((char) next);
        }
        return text.toString();
    }

    @Test
    void closesAConnectionWhoseClientWantedOneAnswer() throws IOException {
        try (var connection = new PlainConnection(demo.server().port())) {
            connection.post(
                    "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true}", "Connection: close\r\n");

            assertThat(connection.read(1 << 20))
                    .startsWith("HTTP/1.1 200")
                    .contains("data: [DONE]"); // to the end of the stream
        }
    }
}
