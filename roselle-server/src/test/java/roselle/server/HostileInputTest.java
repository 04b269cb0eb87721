package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.server.config.LimitOptions;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** What strangers may send: each gets one clear sentence, and the server goes on. */
final class HostileInputTest {
    private static final String MESSAGES = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":1";
    private static final int BODY_BYTES = 1 << 20;

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        var limits = LimitOptions.DEFAULT;
        demo = new DemoServer(ServerConfig.DEFAULT.with(new LimitOptions(
                BODY_BYTES, limits.headerBytes(), limits.connections(), limits.requests(), limits.times())));
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @AfterEach
    void stillAnswers() {
        assertThat(demo.post("/v1/chat/completions", "{" + MESSAGES + "}").statusCode())
                .isEqualTo(200);
        DemoServer.await(
                () -> demo.engine().status().running() + demo.engine().status().waiting() == 0);
    }

    /** A body, and a part of the sentence that refuses it. */
    record Refusal(String body, String parameter, String sentence) {
        static Refusal of(String fields, String parameter, String sentence) {
            return new Refusal("{" + MESSAGES + "," + fields + "}", parameter, sentence);
        }
    }

    static List<Refusal> documents() {
        return List.of(
                new Refusal("", "", "empty"),
                new Refusal("  \n", "", "empty"),
                new Refusal("{" + MESSAGES, "", "not one document of valid JSON"),
                new Refusal("[1]", "", "not a JSON object"),
                new Refusal("\"text\"", "", "not a JSON object"),
                new Refusal("{" + MESSAGES + "} {}", "", "not one document"),
                new Refusal("{" + MESSAGES + ",\"user\":\"a\",\"user\":\"b\"}", "", "twice"),
                new Refusal("{\"messages\":" + "[".repeat(100_000), "", "nesting"),
                new Refusal("{\"user\":" + "{\"a\":".repeat(100_000), "", "nesting"),
                new Refusal("{" + MESSAGES + ",\"seed\":" + "1".repeat(900_000) + "}", "", "64 digits"),
                new Refusal("{" + MESSAGES + ",\"temperature\":NaN}", "", "valid JSON"),
                new Refusal("{" + MESSAGES + ",\"temperature\":Infinity}", "", "valid JSON"),
                new Refusal("{" + MESSAGES + ",'temperature':1}", "", "valid JSON"),
                new Refusal("{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}", "", "surrogate"),
                new Refusal("{\"messages\":[{\"role\":\"user\",\"content\":\"\\udc00\\ud800\"}]}", "", "surrogate"));
    }

    static List<Refusal> parameters() {
        return List.of(
                Refusal.of("\"temperature\":-0.1", "temperature", "between 0 and 100"),
                Refusal.of("\"temperature\":1e400", "temperature", "between 0 and 100"),
                Refusal.of("\"temperature\":\"1\"", "temperature", "must be a number"),
                Refusal.of("\"top_p\":0", "top_p", "between"),
                Refusal.of("\"top_p\":1.5", "top_p", "between"),
                Refusal.of("\"top_k\":-2", "top_k", "between"),
                Refusal.of("\"min_p\":2", "min_p", "between"),
                Refusal.of("\"repetition_penalty\":0", "repetition_penalty", "between"),
                Refusal.of("\"presence_penalty\":3", "presence_penalty", "between"),
                Refusal.of("\"frequency_penalty\":-3", "frequency_penalty", "between"),
                Refusal.of("\"n\":0", "n", "between 1 and 128"),
                Refusal.of("\"n\":1000000000", "n", "between 1 and 128"),
                Refusal.of("\"n\":1.5", "n", "integer"),
                Refusal.of("\"max_completion_tokens\":-1", "max_completion_tokens", "between"),
                Refusal.of("\"max_completion_tokens\":2147483648", "max_completion_tokens", "between"),
                Refusal.of("\"max_completion_tokens\":7", "max_tokens", "send one of them"),
                Refusal.of("\"min_tokens\":2", "min_tokens", "more than max_tokens"),
                Refusal.of("\"seed\":9223372036854775808", "seed", "between"),
                Refusal.of("\"stop\":\"\"", "stop", "0 characters"),
                Refusal.of("\"stop\":[1]", "stop[0]", "must be a string"),
                Refusal.of("\"stop\":" + "[" + "\"x\",".repeat(64) + "\"x\"]", "stop", "at most 64"),
                Refusal.of("\"logit_bias\":{\"99999999\":1}", "logit_bias", "logit_bias"),
                Refusal.of("\"logit_bias\":{\"7\":1,\"07\":2}", "logit_bias.07", "no token id"),
                Refusal.of("\"logit_bias\":{\"-1\":1}", "logit_bias.-1", "no token id"),
                Refusal.of("\"logit_bias\":{\"1\":101}", "logit_bias.1", "between -100 and 100"),
                Refusal.of("\"stop_token_ids\":[99999999]", "stop_token_ids", "stop_token_ids"),
                Refusal.of("\"top_logprobs\":2", "top_logprobs", "logprobs is not true"),
                Refusal.of("\"logprobs\":true,\"top_logprobs\":21", "top_logprobs", "between 0 and 20"),
                Refusal.of("\"stream_options\":{\"include_usage\":true}", "stream_options", "stream: true"),
                Refusal.of("\"stream\":true,\"stream_options\":{\"x\":1}", "stream_options.x", "unknown field"),
                Refusal.of("\"priority\":100000", "priority", "between"),
                Refusal.of("\"temprature\":1", "temprature", "unknown field"),
                Refusal.of("\"guided_grammar\":\"root ::= x\"", "guided_grammar", "has no rule"),
                Refusal.of("\"response_format\":{\"type\":\"xml\"}", "response_format.type", "json_schema"),
                Refusal.of("\"response_format\":{\"type\":\"json_schema\"}", "response_format.json_schema", "missing"),
                Refusal.of(
                        "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\"}}",
                        "response_format.json_schema.schema",
                        "missing"),
                Refusal.of(
                        "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":"
                                + "{\"properties\":{\"a\":{\"minimum\":\"one\"}}}}}",
                        "response_format.json_schema.schema",
                        "at '/properties/a', keyword 'minimum'"),
                Refusal.of(
                        "\"response_format\":{\"type\":\"text\",\"schema\":{}}",
                        "response_format.schema",
                        "the type is text"),
                Refusal.of("\"guided_json\":\"{\"", "guided_json", "JSON"),
                Refusal.of("\"guided_regex\":\"(\"", "guided_regex", "cannot be kept to"),
                Refusal.of("\"guided_choice\":[\"\"]", "guided_choice", "empty"),
                Refusal.of("\"guided_regex\":\"a\",\"json_schema\":{}", "guided_regex", "both"),
                Refusal.of(
                        "\"structured_outputs\":{\"grammar\":\"x\"}",
                        "structured_outputs.grammar",
                        "cannot be kept to"),
                Refusal.of("\"structured_outputs\":{\"lark\":\"x\"}", "structured_outputs.lark", "unknown field"),
                Refusal.of("\"grammar\":\"root ::= nothing\"", "grammar", "cannot be kept to"),
                Refusal.of(
                        "\"structured_outputs\":{\"disable_additional_properties\":true}",
                        "structured_outputs.disable_additional_properties",
                        "schema"),
                Refusal.of("\"tool_choice\":\"required\"", "tool_choice", "forces a call"),
                Refusal.of("\"tool_choice\":{\"type\":\"function\"}", "tool_choice", "none or auto"),
                Refusal.of("\"tools\":[{\"type\":\"magic\"}]", "tools[0].type", "function"),
                Refusal.of("\"tools\":[{\"type\":\"function\"}]", "tools[0].function", "missing"),
                Refusal.of("\"store\":true", "store", "stores no completions"),
                Refusal.of("\"audio\":{\"voice\":\"alloy\"}", "audio", "text alone"),
                Refusal.of("\"modalities\":[\"text\",\"audio\"]", "modalities", "text alone"),
                Refusal.of("\"prediction\":{\"type\":\"content\"}", "prediction", "not there"),
                Refusal.of("\"web_search_options\":{}", "web_search_options", "searches nothing"),
                Refusal.of("\"service_tier\":\"flex\"", "service_tier", "auto or default"),
                Refusal.of("\"reasoning_effort\":\"vast\"", "reasoning_effort", "one of"),
                Refusal.of("\"verbosity\":\"low\"", "verbosity", "leave it out"),
                Refusal.of("\"functions\":[{\"name\":\"f\"}]", "functions", "use tools"),
                Refusal.of("\"metadata\":{\"a\":1}", "metadata", "string"),
                new Refusal("{\"max_tokens\":1}", "messages", "missing"),
                new Refusal("{\"messages\":[]}", "messages", "at least one message"),
                new Refusal("{\"messages\":{}}", "messages", "array"),
                new Refusal("{\"messages\":[{\"content\":\"x\"}]}", "messages[0].role", "missing"),
                new Refusal("{\"messages\":[{\"role\":\"user\"}]}", "messages[0].content", "missing"),
                new Refusal("{\"messages\":[{\"role\":\"alien\",\"content\":\"x\"}]}", "messages[0].role", "one of"),
                new Refusal(
                        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
                        "messages[0].content[0].type",
                        "text alone"),
                new Refusal(
                        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",\"refusal\":\"No.\"}]}",
                        "messages[0].refusal",
                        "is content"),
                new Refusal(
                        "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"type\":\"custom\",\"custom\":{}}]}]}",
                        "messages[0].tool_calls[0].type",
                        "functions alone"),
                new Refusal(
                        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"mood\":1}]}",
                        "messages[0].mood",
                        "unknown field"));
    }

    static Stream<Refusal> chats() {
        return Stream.concat(documents().stream(), parameters().stream());
    }

    @ParameterizedTest
    @MethodSource("chats")
    void refusesAChatWithOneSentence(Refusal refusal) {
        requireRefused("/v1/chat/completions", refusal);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void refusesSuchDocumentsEverywhere(Refusal refusal) {
        for (String path : List.of("/v1/completions", "/tokenize", "/detokenize")) {
            requireRefused(path, new Refusal(refusal.body(), "", refusal.sentence()));
        }
    }

    static List<Refusal> completions() {
        return List.of(
                new Refusal("{}", "prompt", "missing"),
                new Refusal("{\"prompt\":1}", "prompt", "must be a string"),
                new Refusal("{\"prompt\":[]}", "prompt", "empty array"),
                new Refusal("{\"prompt\":[true]}", "prompt[0]", "must be a string"),
                new Refusal("{\"prompt\":[\"a\",[1,\"b\"]]}", "prompt[1][1]", "integer"),
                new Refusal("{\"prompt\":[-1]}", "prompt[0]", "between"),
                new Refusal("{\"prompt\":[1.5]}", "prompt[0]", "integer"),
                new Refusal("{\"prompt\":[99999999]}", "", "99999999"),
                new Refusal("{\"prompt\":[99999999],\"echo\":true}", "prompt", "99999999"),
                new Refusal("{\"prompt\":\"a\",\"suffix\":\"b\"}", "suffix", "has no tokens"),
                new Refusal("{\"prompt\":\"a\",\"best_of\":3}", "best_of", "equal"),
                new Refusal("{\"prompt\":\"a\",\"max_tokens\":-1}", "max_tokens", "between"),
                new Refusal("{\"prompt\":[" + "\"a\",".repeat(2047) + "\"a\"]}", "prompt", "send several requests"),
                new Refusal("{\"prompt\":[" + "\"a\",".repeat(9) + "\"a\"],\"n\":128}", "prompt", "several requests"),
                new Refusal("{\"prompt\":\"a\",\"logprobs\":21}", "logprobs", "between"),
                new Refusal("{\"prompt\":\"a\",\"logprobs\":true}", "logprobs", "integer"),
                new Refusal("{\"prompt\":\"a\",\"messages\":[]}", "messages", "unknown field"));
    }

    @ParameterizedTest
    @MethodSource("completions")
    void refusesACompletionWithOneSentence(Refusal refusal) {
        requireRefused("/v1/completions", refusal);
    }

    private static void requireRefused(String path, Refusal refusal) {
        var response = demo.post(path, refusal.body());

        JsonNode error = DemoServer.json(response.body()).at("/error");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(error.at("/type").stringValue()).isEqualTo("invalid_request_error");
        assertThat(error.at("/message").stringValue())
                .contains(refusal.sentence())
                .hasSizeLessThan(400)
                .doesNotContain("roselle.", "jackson", "Exception", "java");
        if (!refusal.parameter().isEmpty()) {
            assertThat(error.at("/param").stringValue()).isEqualTo(refusal.parameter());
        }
    }

    @Test
    void refusesBytesThatAreNoUtf8() {
        byte[] body = ("{\"messages\":[{\"role\":\"user\",\"content\":\"" + "\u00ff" + "\"}]}")
                .getBytes(StandardCharsets.ISO_8859_1);
        var request = HttpRequest.newBuilder(demo.at("/v1/chat/completions"))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();

        var response = demo.send(request);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("UTF-8");
    }

    @Test
    void refusesAPromptOneTokenPastTheContext() {
        int context = demo.engine().context();
        String fits = "{\"prompt\":" + "[" + "1,".repeat(context - 2) + "1],\"max_tokens\":1}";
        String past = "{\"prompt\":" + "[" + "1,".repeat(context - 1) + "1],\"max_tokens\":1}";

        assertThat(demo.post("/v1/completions", fits).statusCode()).isEqualTo(200);
        var response = demo.post("/v1/completions", past);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(response.body()).at("/error/code").stringValue())
                .isEqualTo("context_length_exceeded");
    }

    @Test
    void refusesAModelThatIsNotThere() {
        var response = demo.post("/v1/chat/completions", "{\"model\":\"gpt-4\"," + MESSAGES + "}");

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(DemoServer.json(response.body()).at("/error/code").stringValue())
                .isEqualTo("model_not_found");
        assertThat(demo.get("/v1/models/gpt-4").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "//v1/models",
                "/v1//models",
                "/v1/models/",
                "/v1/%6dodels",
                "/v1/%2e%2e/health",
                "/v1/x/%2e%2e/models",
                "/V1/models",
                "/v1/models%00",
                "/v1/models;x=1",
                "/x",
                "/v1"
            })
    void knowsAPathByItsExactSpellingOnly(String path) {
        var response = demo.send(
                HttpRequest.newBuilder(java.net.URI.create(demo.server().uri() + path))
                        .build());

        assertThat(response.statusCode()).isIn(404, 400);
        assertThat(DemoServer.json(response.body()).at("/error/message").stringValue())
                .isNotBlank();
    }

    @Test
    void refusesAnotherMethodAndAnotherContentType() {
        assertThat(demo.get("/v1/chat/completions").statusCode()).isEqualTo(405);
        var form = demo.request("/v1/chat/completions", "{}")
                .setHeader("content-type", "text/plain")
                .build();
        assertThat(demo.send(form).statusCode()).isEqualTo(415);
    }

    @Test
    void refusesABodyBeyondTheLimit() {
        String body = "{\"user\":\"" + "x".repeat(BODY_BYTES) + "\"}";
        requireTooLarge(demo.post("/v1/chat/completions", body));

        var chunked = HttpRequest.newBuilder(demo.at("/v1/chat/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofInputStream(
                        () -> new java.io.ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8))))
                .build();
        requireTooLarge(demo.send(chunked));
    }

    private static void requireTooLarge(java.net.http.HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(DemoServer.json(response.body()).at("/error/code").stringValue())
                .isEqualTo("request_too_large");
        assertThat(DemoServer.json(response.body()).at("/error/message").stringValue())
                .contains("shorten it");
    }

    @Test
    void answersHttp10WithTheVersionsThatItSpeaks() throws IOException {
        try (var connection = new PlainConnection(demo.server().port())) {
            String answer = connection.send("GET /health HTTP/1.0\r\n\r\n").read(4096);

            assertThat(answer)
                    .startsWith("HTTP/1.1 505 ")
                    .contains("\"code\":\"http_version_not_supported\"")
                    .contains("HTTP/1.1 or HTTP/2");
        }
    }
}
