package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

final class ChatCompletionTest {
    private static final String FOX = """
            {"model":"demo","messages":[{"role":"user","content":"Tell me a story about a fox."}],
             "temperature":0,"max_tokens":24%s}""";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void answersWhole() {
        var response = demo.post("/v1/chat/completions", FOX.formatted(""));

        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode body = DemoServer.json(response.body());
        assertThat(body.at("/object").stringValue()).isEqualTo("chat.completion");
        assertThat(body.at("/choices/0/message/content").stringValue()).isNotBlank();
        assertThat(body.at("/choices/0/finish_reason").stringValue()).isEqualTo("length");
        assertThat(body.at("/usage/completion_tokens").intValue()).isEqualTo(24);
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void streamsAnEventForEachTokenAndEndsWithDone(HttpClient.Version version) {
        demo.get("/health"); // a request without a body upgrades the connection to HTTP/2
        String whole = content(demo.post("/v1/chat/completions", FOX.formatted("")));
        var request = demo.request(
                        "/v1/chat/completions",
                        FOX.formatted(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"))
                .version(version)
                .build();

        var response = demo.send(request);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.version()).isEqualTo(version);
        List<String> events = DemoServer.events(response.body());
        assertThat(events.getLast()).isEqualTo("[DONE]");
        List<JsonNode> chunks = events.subList(0, events.size() - 1).stream()
                .map(DemoServer::json)
                .toList();
        assertThat(chunks.getLast().at("/usage/completion_tokens").intValue()).isEqualTo(24);
        assertThat(chunks.getFirst().at("/choices/0/delta/role").stringValue()).isEqualTo("assistant");
        String streamed = chunks.stream()
                .map(chunk -> chunk.at("/choices/0/delta/content").asString(""))
                .collect(Collectors.joining());
        assertThat(streamed).isEqualTo(whole);
        assertThat(chunks).hasSize(1 + 24 + 1 + 1);
    }

    private static String content(HttpResponse<String> response) {
        return DemoServer.json(response.body()).at("/choices/0/message/content").stringValue();
    }
}
