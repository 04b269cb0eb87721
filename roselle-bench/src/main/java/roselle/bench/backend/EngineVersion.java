package roselle.bench.backend;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The version that an engine tells of itself, at one of the paths where engines do. */
public final class EngineVersion {
    private static final List<String> PATHS =
            List.of("/version", "/api/version", "/server_info", "/get_server_info", "/info", "/props");
    private static final List<String> FIELDS = List.of("version", "build_info");
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int LONGEST = 200;

    private EngineVersion() {}

    /** The version, or {@code unknown}. */
    public static String of(Target target) {
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(TIMEOUT)
                .build()) {
            for (String path : PATHS) {
                String version = ask(client, target, path);
                if (!version.isEmpty()) {
                    return version.length() > LONGEST ? version.substring(0, LONGEST) : version;
                }
            }
        }
        return "unknown";
    }

    private static String ask(HttpClient client, Target target, String path) {
        try {
            var request = HttpRequest.newBuilder(target.base().resolve(path)).timeout(TIMEOUT);
            target.headers().forEach(request::header);
            HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
            JsonNode body = answer.statusCode() == 200 ? new JsonMapper().readTree(answer.body()) : null;
            return body == null
                    ? ""
                    : FIELDS.stream()
                            .map(field -> body.path(field).asString(""))
                            .filter(text -> !text.isEmpty())
                            .findFirst()
                            .orElse("");
        } catch (IOException | JacksonException | IllegalArgumentException _) { // the last: a header not for versions
            return ""; // it does not tell there
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
