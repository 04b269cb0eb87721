package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpRequest;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.server.config.DialectOptions;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** APIs that are not answered say so, each as its clients understand it. */
final class SwitchedOffTest {
    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer(ServerConfig.DEFAULT.with(new DialectOptions(Set.of("openai"))));
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void itsPathsSaySoInItsWords() {
        JsonNode anthropic = refusal("/v1/messages");
        JsonNode ollama = refusal("/api/chat");
        JsonNode llamaCpp = refusal("/completion");
        JsonNode kserve = refusal("/v2/models/demo/infer");

        assertThat(anthropic.at("/error/type").stringValue()).isEqualTo("not_found_error");
        assertThat(anthropic.at("/error/message").stringValue())
                .contains("/v1/messages belongs to an API that is switched off");
        assertThat(ollama.at("/error").stringValue()).contains("/api/chat belongs to an API that is switched off");
        assertThat(refusal("/").at("/error").stringValue()).contains("/ belongs to an API that is switched off");
        assertThat(llamaCpp.at("/error/message").stringValue()).contains("switched off");
        assertThat(kserve.at("/error").stringValue()).contains("/infer belongs to an API that is switched off");
    }

    private static JsonNode refusal(String path) {
        var refused = demo.post(path, "{}");
        assertThat(refused.statusCode()).isEqualTo(404);
        return DemoServer.json(refused.body());
    }

    @Test
    void theOthersAnswer() {
        var versioned = HttpRequest.newBuilder(demo.at("/v1/models")).header("anthropic-version", "2023-06-01");

        assertThat(demo.get("/v1/models").statusCode()).isEqualTo(200);
        assertThat(demo.get("/").statusCode()).isEqualTo(200);
        assertThat(demo.get("/health").statusCode()).isEqualTo(200);
        assertThat(demo.send(versioned.build()).statusCode()).isEqualTo(404);
    }

    @Test
    void refusesNamesThatAreNone() {
        assertThatThrownBy(() -> new DialectOptions(Set.of("openai", "grpc")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("dialects has grpc");
        assertThatThrownBy(() -> new DialectOptions(Set.of())).hasMessageContaining("dialects is empty");
    }
}
