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
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.server.config.ListenOptions;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** A server of small encoders on a free port, each under the name of its folder. */
public final class EncoderServer implements AutoCloseable {
    static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-encoders");

    private final List<ServedEncoder> encoders;
    private final Server server;
    private final HttpClient client = HttpClient.newHttpClient();

    public EncoderServer(String... names) {
        this(Stream.of(names).map(MODELS::resolve).toArray(Path[]::new));
    }

    EncoderServer(Path... folders) {
        encoders = Stream.of(folders)
                .map(folder -> new ServedEncoder(folder.getFileName().toString(), open(folder)))
                .toList();
        server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), encoders.toArray(Served[]::new));
    }

    /** The folder of one of them. */
    public static Path model(String name) {
        return MODELS.resolve(name);
    }

    private static EmbeddingEngine open(Path folder) {
        return EmbeddingEngine.open(EmbeddingConfig.of(folder).with(new DeviceOptions("cpu", 1, "auto", "f32")));
    }

    /** Such as {@code http://127.0.0.1:40123}. */
    public String root() {
        return "http://127.0.0.1:" + server.port();
    }

    List<ServedEncoder> encoders() {
        return encoders;
    }

    EmbeddingEngine engine(String name) {
        return encoders.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow()
                .engine();
    }

    HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(at(path)).build());
    }

    HttpResponse<String> post(String path, String body) {
        return send(HttpRequest.newBuilder(at(path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    }

    /** The answer to a request that is right. */
    JsonNode ask(String path, String body) {
        HttpResponse<String> answer = post(path, body);
        if (answer.statusCode() != 200) {
            throw new AssertionError(path + " answers " + answer.statusCode() + ": " + answer.body());
        }
        return DemoServer.json(answer.body());
    }

    private URI at(String path) {
        return server.uri().resolve(path);
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
        encoders.forEach(encoder -> encoder.engine().close());
    }
}
