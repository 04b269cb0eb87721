package roselle.helidon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.helidon.config.Config;
import io.helidon.config.ConfigSources;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.observe.ObserveFeature;
import io.helidon.webserver.observe.health.HealthObserver;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.hub.BundledModel;

/** A Helidon server whose model is the demo model. */
final class RoselleModelsTest {
    private static Config config(Map<String, String> values) {
        return Config.builder(ConfigSources.create(values))
                .disableEnvironmentVariablesSource()
                .disableSystemPropertiesSource()
                .build()
                .get("roselle");
    }

    @Test
    @Tag("long")
    void answersOverAServerOfTheApplication() throws IOException, InterruptedException {
        Path file = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        Config config = config(Map.of(
                "roselle.model", file.toString(),
                "roselle.device", "cpu",
                "roselle.max-sequences", "4",
                "roselle.chat.temperature", "0",
                "roselle.chat.max-tokens", "24"));
        RoselleModels models = RoselleModels.create(config);
        WebServer server = server(models);
        try {
            assertThat(ask(server, "/ask?question=What+is+12+%2B+30%3F").body()).contains("42");
            assertThat(ask(server, "/observe/health/ready").body()).contains("roselle", "\"UP\"", "\"running\":0");
            models.close();
            assertThat(ask(server, "/observe/health/ready").statusCode()).isEqualTo(503);
        } finally {
            server.stop();
            models.close();
        }
    }

    private static WebServer server(RoselleModels models) {
        var health = HealthObserver.builder()
                .addCheck(models.healthCheck())
                .details(true)
                .build();
        return WebServer.builder()
                .host("127.0.0.1")
                .port(0)
                .addFeature(ObserveFeature.builder().addObserver(health).build())
                .routing(routing -> routing.get(
                        "/ask",
                        (request, response) -> response.send(
                                models.chatModel().chat(request.query().get("question")))))
                .build()
                .start();
    }

    private static HttpResponse<String> ask(WebServer server, String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI address = URI.create("http://127.0.0.1:" + server.port() + path);
            return client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
        }
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatThrownBy(() -> RoselleModels.create(config(Map.of("roselle.modle", "x"))))
                .hasMessageStartingWith("roselle.modle is no key of Roselle's: there are chat, context, device");
        assertThatThrownBy(() -> RoselleModels.create(config(Map.of("roselle.chat.top-n", "1"))))
                .hasMessageStartingWith("roselle.chat.top-n is no key of Roselle's: there are max-tokens, seed");
        assertThatThrownBy(() -> RoselleModels.create(config(Map.of("roselle.device", "cpu"))))
                .hasMessage("roselle names no model: it has neither model nor embedding-model");
    }
}
