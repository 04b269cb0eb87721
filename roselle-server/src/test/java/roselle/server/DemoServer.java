package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.hub.BundledModel;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server of the demo model on a free port, and requests to it. */
final class DemoServer implements AutoCloseable {
    static final JsonMapper MAPPER = new JsonMapper();
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Engine engine;
    private final Server server;
    private final Pace pace;
    private final HttpClient client = HttpClient.newHttpClient();

    DemoServer() {
        this(ServerConfig.DEFAULT);
    }

    DemoServer(ServerConfig config) {
        this(config, Engine.open(EngineConfig.of(demo())));
    }

    DemoServer(Engine engine) {
        this(ServerConfig.DEFAULT, engine);
    }

    /** A server whose engine's steps take as long as {@code pace} says. */
    DemoServer(ServerConfig config, Pace pace) {
        this(config, HookedEngine.open(EngineConfig.of(demo()), pace), pace);
    }

    DemoServer(ServerConfig config, Engine engine) {
        this(config, engine, new Pace());
    }

    DemoServer(ServerConfig config, Engine engine, Pace pace) {
        this.engine = engine;
        this.pace = pace;
        server = Server.start(config.with(new ListenOptions("127.0.0.1", 0)), new ServedModel("demo", engine));
    }

    /** The demo model's file, unpacked below the build folder. */
    static Path demo() {
        try {
            return BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    Engine engine() {
        return engine;
    }

    Server server() {
        return server;
    }

    Pace pace() {
        return pace;
    }

    HttpClient client() {
        return client;
    }

    URI at(String path) {
        return server.uri().resolve(path);
    }

    HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(at(path)).build());
    }

    HttpResponse<String> post(String path, String body) {
        return send(request(path, body).build());
    }

    HttpRequest.Builder request(String path, String body) {
        return HttpRequest.newBuilder(at(path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    /** The data of each event of a stream. */
    static List<String> events(String body) {
        return Stream.of(body.split("\n\n"))
                .map(event -> event.substring("data: ".length()))
                .toList();
    }

    static JsonNode json(String text) {
        return MAPPER.readTree(text);
    }

    /** Waits for what must come; only a machine that stands still, or a defect, takes this long. */
    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited " + PATIENCE).isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        pace.go();
        client.close();
        server.close();
        engine.close();
    }
}
