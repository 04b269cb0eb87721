package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ListenOptions;
import roselle.server.config.PageTools;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** Tools of the page over HTTP: listed to all, called by the server's own page, and only where there are some. */
final class ToolCallsTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static Engine engine;

    @BeforeAll
    static void open() throws Exception {
        engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static Server server(AccessOptions access, PageTools tools) {
        var config = ServerConfig.DEFAULT
                .with(new ListenOptions("127.0.0.1", 0))
                .with(access)
                .with(tools);
        return Server.start(config, new ServedModel("demo", engine));
    }

    private static HttpRequest.Builder request(Server server) {
        return HttpRequest.newBuilder(URI.create(server.uri() + "/page/tools"));
    }

    private static HttpRequest.Builder call(Server server, String body) {
        return request(server).header("content-type", "application/json").POST(BodyPublishers.ofString(body));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void withoutToolsNothingIsListedAndNothingCanBeCalled() throws Exception {
        try (Server server = server(AccessOptions.DEFAULT, PageTools.NONE)) {
            assertThat(send(request(server)).body()).isEqualTo("{\"tools\":[]}");
            assertThat(send(call(server, "{\"name\":\"get_weather\"}")).statusCode())
                    .isEqualTo(405);
        }
    }

    @Test
    void callsAToolAndSaysWhatIsWrong() throws Exception {
        var tools = new ScriptedTools();
        try (Server server = server(AccessOptions.DEFAULT, tools)) {
            assertThat(send(request(server)).body()).contains("\"name\":\"get_weather\"", "\"name\":\"gone\"");
            assertThat(send(call(server, "{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\": \\\"Oslo\\\"}\"}"))
                            .body())
                    .isEqualTo("{\"content\":\"<b>sunny</b>\"}");
            assertThat(tools.made()).isEqualTo(List.of("get_weather{\"city\": \"Oslo\"}"));

            assertThat(send(call(server, "{\"name\":\"gone\"}")).body())
                    .isEqualTo("{\"content\":\"error: the MCP server of gone has failed: it has ended\"}");
            assertThat(send(call(server, "{\"name\":\"other\"}")).statusCode()).isEqualTo(404);
            assertThat(send(call(server, "{\"arguments\":\"{}\"}")).body()).contains("name is missing");
            assertThat(send(call(server, "{\"name\":\"gone\",\"more\":1}")).statusCode())
                    .isEqualTo(400);
            String long1 = "x".repeat(ToolCalls.MOST_CHARACTERS + 1);
            assertThat(send(call(server, "{\"name\":\"gone\",\"arguments\":\"" + long1 + "\"}"))
                            .statusCode())
                    .isEqualTo(413);
            assertThat(tools.made()).as("what is refused is not called").hasSize(2);
        }
    }

    @Test
    void noOtherPageMayCallATool() throws Exception {
        var tools = new ScriptedTools();
        try (Server server = server(AccessOptions.DEFAULT.withOrigins(List.of("*")), tools)) {
            String body = "{\"name\":\"get_weather\"}";
            HttpResponse<String> refused = send(call(server, body).header("origin", "https://elsewhere.example"));
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(tools.made()).isEmpty();
            String own = "http://127.0.0.1:" + server.port();
            assertThat(send(call(server, body).header("origin", own)).statusCode())
                    .isEqualTo(200);
            assertThat(send(request(server).header("content-type", "text/plain").POST(BodyPublishers.ofString(body)))
                            .statusCode())
                    .isEqualTo(415);
        }
    }

    @Test
    void aServerWithKeysAsksForOne() throws Exception {
        var tools = new ScriptedTools();
        ApiKey key = new ApiKey("alice", ApiKey.sha256("secret-of-alice"), KeyLimits.DEFAULT);
        try (Server server = server(AccessOptions.DEFAULT.withKeys(List.of(key)), tools)) {
            String body = "{\"name\":\"get_weather\"}";
            assertThat(send(request(server)).statusCode()).isEqualTo(401);
            assertThat(send(call(server, body)).statusCode()).isEqualTo(401);
            assertThat(send(call(server, body).header("authorization", "Bearer secret-of-alice"))
                            .statusCode())
                    .isEqualTo(200);
        }
    }
}
