package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

final class ControlTest {
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
    void provesHealthWithOneTokenForManyProbes() {
        DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes
        long before = demo.engine().status().totals().generatedTokens();

        for (int probe = 0; probe < 20; probe++) {
            assertThat(demo.get("/health").statusCode()).isEqualTo(200);
        }

        assertThat(demo.engine().status().totals().generatedTokens() - before).isLessThanOrEqualTo(1);
    }

    @Test
    void isUnhealthyWithoutItsEngine() {
        try (var dying = new DemoServer()) {
            dying.engine().close();

            var response = dying.get("/health");

            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(DemoServer.json(response.body()).at("/error/code").stringValue())
                    .isEqualTo("engine_unavailable");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ready", "/version", "/v1/models", "/v1/models/demo"})
    void answersGetAndHead(String path) {
        var get = demo.get(path);
        var head = demo.send(HttpRequest.newBuilder(demo.at(path)).HEAD().build());

        assertThat(get.statusCode()).isEqualTo(200);
        assertThat(get.headers().firstValue("x-request-id")).isPresent();
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
    }

    @Test
    void tellsVllmsClientsOfItsSizesAndThatItIsAwake() {
        JsonNode sizes = DemoServer.json(demo.get("/server_info").body()).at("/vllm_config");

        assertThat(sizes.at("/model_config/served_model_name").stringValue()).isEqualTo("demo");
        assertThat(sizes.at("/model_config/max_model_len").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(sizes.at("/scheduler_config/max_num_seqs").intValue())
                .isEqualTo(demo.engine().plan().maxSequences());
        assertThat(sizes.at("/cache_config/num_gpu_blocks").intValue()).isPositive();
        assertThat(DemoServer.json(demo.get("/is_sleeping").body())
                        .at("/is_sleeping")
                        .booleanValue())
                .isFalse();
        assertThat(demo.post("/sleep?level=2", "").body()).contains("level 2 is not supported");
        assertThat(demo.post("/sleep?level=3", "").body()).contains("level is 3: it must be 1 or 2");
        assertThat(demo.post("/sleep?mode=wait", "").body()).contains("mode is wait");
        assertThat(demo.post("/wake_up?tags=all", "").body()).contains("tags has all");
    }

    @Test
    void sleepsAndWakesAsVllmDoes() {
        try (var sleeper = new DemoServer()) {
            String request = "{\"prompt\":\"Once\",\"max_tokens\":4,\"temperature\":0}";
            String text = DemoServer.json(
                            sleeper.post("/v1/completions", request).body())
                    .at("/choices/0/text")
                    .stringValue();

            assertThat(sleeper.post("/sleep", "").statusCode()).isEqualTo(200);

            assertThat(sleeper.get("/is_sleeping").body()).contains("\"is_sleeping\":true");
            assertThat(sleeper.engine().status().totalPages()).isZero();
            assertThat(sleeper.post("/v1/completions", request).statusCode()).isEqualTo(503);
            assertThat(sleeper.get("/health").statusCode()).isEqualTo(200);
            assertThat(sleeper.get("/ready").body()).contains("the model demo sleeps");
            JsonNode listed = DemoServer.json(sleeper.get("/models").body()).at("/models/0");
            assertThat(listed.at("/state").stringValue()).isEqualTo("sleeping");
            assertThat(listed.at("/bytes").longValue())
                    .isPositive()
                    .isLessThan(listed.at("/most_bytes").longValue());
            assertThat(sleeper.get("/api/ps").body()).isEqualTo("{\"models\":[]}");
            assertThat(sleeper.get("/v2/models/demo/ready").statusCode()).isEqualTo(503);
            assertThat(sleeper.post("/v2/repository/index", "{}").body())
                    .contains("\"state\":\"UNAVAILABLE\"", "\"reason\":\"sleeping\"");
            assertThat(sleeper.post("/wake_up?tags=weights", "").statusCode()).isEqualTo(200);
            assertThat(sleeper.get("/is_sleeping").body()).contains("\"is_sleeping\":true");
            assertThat(sleeper.post("/wake_up?model=other&tags=weights", "").statusCode())
                    .isEqualTo(404);
            assertThat(sleeper.post("/wake_up?tags=kv_cache", "").statusCode()).isEqualTo(200);
            assertThat(sleeper.get("/is_sleeping").body()).contains("\"is_sleeping\":false");
            assertThat(DemoServer.json(sleeper.post("/v1/completions", request).body())
                            .at("/choices/0/text")
                            .stringValue())
                    .isEqualTo(text);
        }
    }

    @Test
    void aModelThatAClientMadeSleepsWithTheOneThatAnswers() {
        try (var sleeper = new DemoServer()) {
            String made = "{\"model\":\"foxes\",\"from\":\"demo\",\"system\":\"Be short.\",\"stream\":false}";
            assertThat(sleeper.post("/api/create", made).statusCode()).isEqualTo(200);

            assertThat(sleeper.post("/sleep?model=foxes", "").statusCode()).isEqualTo(200);
            assertThat(sleeper.get("/is_sleeping?model=foxes").body()).contains("\"is_sleeping\":true");
            assertThat(sleeper.get("/is_sleeping?model=demo").body()).contains("\"is_sleeping\":true");
            assertThat(sleeper.post("/wake_up?model=foxes", "").statusCode()).isEqualTo(200);
            assertThat(sleeper.get("/is_sleeping?model=foxes").body()).contains("\"is_sleeping\":false");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/models",
                "/v1/models/demo",
                "/models",
                "/version",
                "/server_info",
                "/is_sleeping",
                "/api/tags",
                "/api/ps",
                "/api/version",
                "/v2",
                "/v2/models/demo",
                "/v2/models/demo/stats",
                "/props",
                "/slots",
                "/info"
            })
    void refusesParametersOfAQueryThatHaveNoEffect(String path) {
        var unknown = demo.get(path + "?colour=red");

        assertThat(unknown.statusCode()).isEqualTo(path.equals("/info") ? 422 : 400); // as TGI has it
        assertThat(unknown.body()).contains("unknown parameter colour of the query");
        assertThat(demo.get(path).statusCode()).isEqualTo(200);
    }

    @Test
    void answersWhoeverWatchesItWhateverTheyAdd() {
        assertThat(demo.get("/health?verbose=1").statusCode()).isEqualTo(200);
        assertThat(demo.get("/ready?verbose=1").statusCode()).isEqualTo(200);
    }

    @Test
    void takesTagsAsVllmsClientsSendThem() {
        assertThat(demo.post("/wake_up?tags=weights&tags=all", "").body()).contains("tags has all");
        assertThat(demo.post("/wake_up?tags=weights&tags=kv_cache", "").statusCode())
                .isEqualTo(200);
        assertThat(demo.get("/is_sleeping?model=demo&model=other").body()).contains("model is in the query 2 times");
        assertThat(demo.post("/sleep?colour=red", "").body()).contains("unknown parameter colour");
        assertThat(demo.get("/is_sleeping").body()).contains("false");
    }

    @Test
    void whatIsNotThereIsRefusedInTheWordsOfItsApi() {
        assertThat(DemoServer.json(demo.get("/api/nothing").body()).at("/error").stringValue())
                .contains("there is nothing at /api/nothing");
        assertThat(DemoServer.json(demo.get("/v2/nothing").body()).at("/error").stringValue())
                .contains("there is nothing at /v2/nothing");
        assertThat(DemoServer.json(demo.post("/v1/messages/nothing", "{}").body())
                        .at("/type")
                        .stringValue())
                .isEqualTo("error");
        assertThat(DemoServer.json(demo.get("/v1/nothing").body())
                        .at("/error/message")
                        .stringValue())
                .contains("there is nothing at /v1/nothing");
        assertThat(demo.get("/api/nothing").statusCode()).isEqualTo(404);
    }

    @Test
    void tokenizesAndBack() {
        String text = "The fox, the caf\\u00e9 and <|im_end|>.";
        JsonNode tokens =
                DemoServer.json(demo.post("/tokenize", "{\"prompt\":\"" + text + "\",\"return_token_strs\":true}")
                        .body());

        JsonNode back = DemoServer.json(demo.post("/detokenize", "{\"tokens\":" + tokens.at("/tokens") + "}")
                .body());

        assertThat(back.at("/prompt").stringValue()).endsWith("The fox, the café and <|im_end|>.");
        assertThat(tokens.at("/token_strs").size())
                .isEqualTo(tokens.at("/count").intValue());
        assertThat(tokens.at("/max_model_len").intValue())
                .isEqualTo(demo.engine().context());
    }

    @Test
    void tokenizesAConversationAsItsCompletionDoes() {
        String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]";

        int count = DemoServer.json(demo.post("/tokenize", "{" + messages + "}").body())
                .at("/count")
                .intValue();

        JsonNode answer = DemoServer.json(demo.post("/v1/chat/completions", "{" + messages + ",\"max_tokens\":1}")
                .body());
        assertThat(answer.at("/usage/prompt_tokens").intValue()).isEqualTo(count);
    }

    /** An encoder cannot: where it is asked to, no model beside it sleeps either. */
    @Test
    void noEncoderSleepsWithItsWeights() {
        try (var encoders = new EncoderServer("bert")) {
            assertThat(encoders.get("/is_sleeping").body()).contains("\"is_sleeping\":false");
            assertThat(encoders.post("/sleep", "").body()).contains("level 1 is not supported for encoders");
        }
    }
}
