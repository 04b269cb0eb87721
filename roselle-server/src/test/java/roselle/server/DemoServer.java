package roselle.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import roselle.checkpoint.BundledModel;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server of the demo model on a free port, and requests to it. */
final class DemoServer implements AutoCloseable {
    static final JsonMapper MAPPER = new JsonMapper();

    private final Engine engine;
    private final Server server;
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

    DemoServer(ServerConfig config, Engine engine) {
        this.engine = engine;
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

    @Override
    public void close() {
        client.close();
        server.close();
        engine.close();
    }
}
