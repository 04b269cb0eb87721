package example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application as it is started, asked over HTTP. */
class ApplicationTest {
    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() throws IOException {
        Application.useTheDemoModelWhereNoneIsNamed();
        long before = System.nanoTime();
        application = SpringApplication.run(Application.class, "--server.port=0");
        long ready = System.nanoTime();
        application.getBean(ChatModel.class).stream("Tell me a story about a fox.").blockFirst();
        // Told, not judged: how long it takes is the machine's affair.
        System.out.printf(
                "context after %d ms, first token %d ms later%n",
                (ready - before) / 1_000_000, (System.nanoTime() - ready) / 1_000_000);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void answersWhole() throws Exception {
        assertThat(ask("/ask?question=", "What is 12 + 30?")).contains("42");
    }

    @Test
    void answersInPieces() throws Exception {
        assertThat(ask("/tell?question=", "Tell me a story about a fox.").lines().filter(line -> line.startsWith("data:")))
                .hasSizeGreaterThan(2);
    }

    @Test
    void actuatorTellsOfTheModel() throws Exception {
        assertThat(ask("/actuator/health", "")).contains("\"roselle\":{", "\"status\":\"UP\"");
        ask("/ask?question=", "What is 12 + 30?");
        assertThat(ask("/actuator/metrics/roselle.generated.tokens", "")).contains("\"value\":");
        assertThat(ask("/actuator/metrics/gen_ai.client.operation", "")).contains("roselle");
    }

    private static String ask(String path, String question) throws IOException, InterruptedException {
        String port = application.getEnvironment().getProperty("local.server.port");
        var uri = URI.create("http://127.0.0.1:" + port + path + URLEncoder.encode(question, StandardCharsets.UTF_8));
        try (var client = HttpClient.newHttpClient()) {
            var response = client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            return response.body();
        }
    }
}
