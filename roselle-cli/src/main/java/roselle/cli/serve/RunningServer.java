package roselle.cli.serve;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.cli.option.TextInput;
import roselle.cli.report.NearNames;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that runs already, as commands ask it about its models. */
final class RunningServer {
    private static final int LONGEST_KEY_FILE = 4096;

    private static final JsonMapper MAPPER = new JsonMapper();

    @Option(
            names = "--server",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:8000",
            description = "The server; default: ${DEFAULT-VALUE}.")
    private URI server = URI.create("http://127.0.0.1:8000");

    @Option(
            names = "--key-file",
            paramLabel = "FILE",
            description = "A file with the key of an operator, where the server asks for keys.")
    private @Nullable Path keyFile;

    JsonNode get(String path) throws IOException {
        return send(request(path).GET());
    }

    /** Asks for a change of a model, and prints what became of it. */
    void move(String model, String path, PrintWriter out) throws IOException {
        var told = post(path, model);
        out.println(
                told.path("model").asString("") + " is " + told.path("state").asString(""));
        out.flush();
    }

    private JsonNode post(String path, String model) throws IOException {
        String body = MAPPER.writeValueAsString(Map.of("model", model));
        return send(request(path).header("content-type", "application/json").POST(BodyPublishers.ofString(body)));
    }

    private HttpRequest.Builder request(String path) throws IOException {
        boolean isHttp = "http".equals(server.getScheme()) || "https".equals(server.getScheme());
        if (!isHttp || server.getHost() == null) {
            throw new InvalidRequestException("server is " + server + ": it must begin with http:// or https://");
        }
        var request = HttpRequest.newBuilder(server.resolve(path));
        return keyFile == null ? request : request.header("authorization", "Bearer " + key(keyFile));
    }

    /** The key that a file has as its one line. */
    static String key(Path file) throws IOException {
        String key = TextInput.ofFile(NearNames.existing(file), LONGEST_KEY_FILE, ": no key is as long")
                .strip();
        if (key.isEmpty() || !key.chars().allMatch(letter -> letter > ' ' && letter < 127)) {
            throw new InvalidRequestException(file + " has no key: it must be the one line that roselle key printed");
        }
        return key;
    }

    private JsonNode send(HttpRequest.Builder request) throws IOException {
        try (var client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
            JsonNode body = parsed(answer.body());
            if (answer.statusCode() != 200) {
                throw new DeviceException("the server at " + server + " refused: " + reason(answer, body));
            }
            return body;
        } catch (ConnectException nobody) {
            throw new DeviceException(
                    "there is no server at " + server + ": start one, or name it with --server", nobody);
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the server answered");
        }
    }

    private static JsonNode parsed(String body) {
        try {
            return MAPPER.readTree(body);
        } catch (JacksonException other) {
            return MAPPER.createObjectNode();
        }
    }

    private static String reason(HttpResponse<String> answer, JsonNode body) {
        JsonNode message = body.path("error").path("message");
        return message.isString() ? message.stringValue() : "status " + answer.statusCode();
    }
}
