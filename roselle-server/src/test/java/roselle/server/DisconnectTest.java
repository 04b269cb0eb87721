package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.server.config.ServerConfig;

/** A peer that goes takes its generation with it, whether bytes are on the way or not. */
final class DisconnectTest {
    private static final int MAX_TOKENS = 1000;

    private static final String ENDLESS = """
            {"messages":[{"role":"user","content":"Tell me a story."}],"max_tokens":%d,"ignore_eos":true,"stream":%s}""";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer(ServerConfig.DEFAULT, new Pace());
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    /** Half of an answer's tokens take longer than the slowest machine needs to see that its peer has gone. */
    @BeforeEach
    void slowDown() {
        demo.pace().slow(Duration.ofMillis(50));
    }

    @AfterEach
    void goOn() {
        demo.pace().go();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsTheGenerationOfAClosedConnection(boolean streams) throws IOException {
        long before = demo.engine().status().totals().generatedTokens();
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), demo.server().port())) {
            write(socket, "POST", "/v1/chat/completions", ENDLESS.formatted(MAX_TOKENS, streams));
            DemoServer.await(() -> demo.engine().status().running() > 0);
        }

        DemoServer.await(DisconnectTest::isIdle);
        assertThat(demo.engine().status().totals().generatedTokens() - before).isLessThan(MAX_TOKENS / 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsTheGenerationOfAStreamOfHttp2ThatIsReset(boolean streams) {
        demo.get("/health"); // upgrades the connection
        long before = demo.engine().status().totals().generatedTokens();
        var request = demo.request("/v1/chat/completions", ENDLESS.formatted(MAX_TOKENS, streams))
                .version(HttpClient.Version.HTTP_2)
                .build();
        CompletableFuture<HttpResponse<String>> answer =
                demo.client().sendAsync(request, HttpResponse.BodyHandlers.ofString());
        DemoServer.await(() -> demo.engine().status().running() > 0);

        answer.cancel(true);

        DemoServer.await(DisconnectTest::isIdle);
        assertThat(demo.engine().status().totals().generatedTokens() - before).isLessThan(MAX_TOKENS / 2);
        assertThat(demo.get("/health").version()).isEqualTo(HttpClient.Version.HTTP_2);
    }

    @Test
    void keepsARequestThatComesWhileAnotherIsAnswered() throws IOException {
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), demo.server().port())) {
            socket.setSoTimeout(120_000);
            write(socket, "POST", "/v1/chat/completions", ENDLESS.formatted(20, false));
            write(socket, "GET", "/version", "");
            write(socket, "GET", "/health", "");
            write(socket, "GET", "/ready", "");

            var answers = new StringBuilder();
            DemoServer.await(
                    () -> !read(socket, answers).isEmpty() && answers.toString().contains("{\"status\":\"ready\"}"));
            assertThat(answers).contains("chat.completion", "\"version\"", "{\"status\":\"ok\"}");
        }
    }

    private static boolean isIdle() {
        var status = demo.engine().status();
        return status.running() == 0 && status.usedPages() == 0;
    }

    private static StringBuilder read(Socket socket, StringBuilder into) {
        try {
            byte[] bytes = new byte[8192];
            int count = socket.getInputStream().read(bytes);
            return into.append(new String(bytes, 0, Math.max(0, count), StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void write(Socket socket, String method, String path, String body) throws IOException {
        byte[] content = body.getBytes(StandardCharsets.UTF_8);
        String head =
                "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                        .formatted(method, path, content.length);
        socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().write(content);
        socket.getOutputStream().flush();
    }
}
