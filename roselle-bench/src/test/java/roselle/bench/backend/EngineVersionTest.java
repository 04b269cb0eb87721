package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An engine that tells its version at one path, to those who have the key. */
final class EngineVersionTest {
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            boolean isKnown = "Bearer k".equals(exchange.getRequestHeaders().getFirst("Authorization"));
            boolean isThere = exchange.getRequestURI().getPath().equals("/server_info");
            byte[] body = "{\"version\": \"0.5.16\"}".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(!isKnown ? 401 : isThere ? 200 : 404, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void asksWithTheHeadersOfTheRequests() {
        assertThat(EngineVersion.of(target(Map.of("Authorization", "Bearer k"))))
                .isEqualTo("0.5.16");
        assertThat(EngineVersion.of(target(Map.of()))).isEqualTo("unknown");
    }

    @Test
    void saysUnknownWhereAHeaderIsNotForIt() {
        assertThat(EngineVersion.of(target(Map.of("Host", "elsewhere")))).isEqualTo("unknown");
    }

    private Target target(Map<String, String> headers) {
        URI base = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        return new Target("a", base, "m", Profile.of("sglang").shape(), headers, Optional.empty());
    }
}
