package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.HookedEngine;
import roselle.server.config.ServerConfig;
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
        assertThat(chunks.getFirst().at("/choices/0/delta/content").stringValue())
                .as("the role comes alone")
                .isEmpty();
        String streamed = chunks.stream()
                .map(chunk -> chunk.at("/choices/0/delta/content").asString(""))
                .collect(Collectors.joining());
        assertThat(streamed).isEqualTo(whole);
        assertThat(chunks).hasSize(1 + 24 + 1 + 1);
    }

    @Test
    void rendersTheTokensThatItWouldAnswerFrom() {
        String asked =
                FOX.formatted(",\"stream\":true,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]");
        String whole = asked.replace("\"stream\":true", "\"stream\":false");

        JsonNode rendered =
                DemoServer.json(demo.post("/v1/chat/completions/render", asked).body());

        JsonNode tokens = DemoServer.json(demo.post(
                        "/tokenize",
                        "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story about a fox.\"}],"
                                + "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}")
                .body());
        JsonNode answer =
                DemoServer.json(demo.post("/v1/chat/completions", whole).body());
        assertThat(rendered.at("/model").stringValue()).isEqualTo("demo");
        assertThat(rendered.at("/token_ids")).isEqualTo(tokens.at("/tokens")).isNotEmpty();
        assertThat(rendered.at("/token_ids"))
                .hasSize(answer.at("/usage/prompt_tokens").intValue());
        assertThat(demo.post("/v1/chat/completions/render", "{\"model\":\"demo\"}")
                        .statusCode())
                .isEqualTo(400);
    }

    @Test
    void goesOnWithTheLastMessage() {
        String begun = "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story about a fox.\"},"
                + "{\"role\":\"assistant\",\"content\":\"Once upon a time there\"}],"
                + "\"continue_final_message\":true";

        var ids = DemoServer.json(
                demo.post("/tokenize", begun + ",\"return_token_strs\":true}").body());
        String answer = content(demo.post("/v1/chat/completions", begun + ",\"temperature\":0,\"max_tokens\":8}"));

        assertThat(ids.at("/token_strs/" + (ids.at("/count").intValue() - 1)).stringValue())
                .endsWith("there");
        assertThat(answer).startsWith(" ");
        assertThat(demo.post("/v1/chat/completions", begun + ",\"add_generation_prompt\":true}")
                        .statusCode())
                .isEqualTo(400);
    }

    @Test
    void refusesInOneSentenceToGoOnWithNothing() {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[{\"role\":\"assistant\",\"content\":\" \"}],\"continue_final_message\":true}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(response.body()).at("/error/param").stringValue())
                .isEqualTo("continue_final_message");
    }

    @Test
    void turnsAwayWhatFindsNoRoom() {
        var batch = new BatchOptions(0, 1, 512, 0, 1);
        var pace = new Pace();
        var engine = HookedEngine.open(EngineConfig.of(DemoServer.demo()).with(batch), pace);
        try (var small = new DemoServer(ServerConfig.DEFAULT, engine, pace)) {
            pace.hold(); // one is in a step, one waits
            String endless = "{\"prompt\":\"Once\",\"max_tokens\":15,\"ignore_eos\":true}";
            var request = small.request("/v1/completions", endless).build();
            List<CompletableFuture<HttpResponse<String>>> answers = Stream.generate(
                            () -> small.client().sendAsync(request, HttpResponse.BodyHandlers.ofString()))
                    .limit(8)
                    .toList();
            DemoServer.await(
                    () -> answers.stream().filter(CompletableFuture::isDone).count() == 6);
            pace.go();
            List<HttpResponse<String>> all =
                    answers.stream().map(CompletableFuture::join).toList();

            assertThat(all)
                    .extracting(HttpResponse::statusCode)
                    .containsExactlyInAnyOrder(200, 200, 503, 503, 503, 503, 503, 503);
            all.stream().filter(response -> response.statusCode() == 503).forEach(refused -> {
                assertThat(refused.headers().firstValueAsLong("retry-after")).isPresent();
                assertThat(DemoServer.json(refused.body()).at("/error/code").stringValue())
                        .isEqualTo("overloaded");
            });
        }
    }

    private static String content(HttpResponse<String> response) {
        return DemoServer.json(response.body()).at("/choices/0/message/content").stringValue();
    }
}
