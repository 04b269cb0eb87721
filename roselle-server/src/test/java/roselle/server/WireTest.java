package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ServerConfig;
import roselle.tokenizer.EncodeOptions;

/**
 * The bytes on the wire of each kind of answer, error and event, as {@code wire.txt} has them.
 *
 * <p>Ids, times and log-probabilities are masked. So are texts, where the model chooses them; repeated lines then count once, so
 * that nothing hangs on how many tokens it takes. Where texts count, a bias leaves the model no choice.
 */
final class WireTest {
    private static final String EXPECTED = "wire.txt";
    private static final String KEY = "a-key";

    private static final String TOLD = "Say \\\"é\\\" and \\u0007 \\ud83d\\ude00";
    private static final String HELLO = "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]";
    private static final String FUNCTION =
            "\"name\":\"get_weather\",\"description\":\"The weather in a city\",\"parameters\":{\"type\":\"object\","
                    + "\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}";
    private static final String WEATHER =
            "\"messages\":[{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}],"
                    + "\"tools\":[{\"type\":\"function\",\"function\":{" + FUNCTION
                    + "}}],\"temperature\":0,\"max_tokens\":60";
    private static final String SUM = "\"messages\":[{\"role\":\"user\",\"content\":\"What is 12 + 30?\"}],"
            + "\"temperature\":0,\"max_tokens\":100,\"reasoning_effort\":\"high\"";
    private static final String ASKED =
            "\"instructions\":\"Be \\\"brief\\\".\",\"metadata\":{\"a\":\"\\u007f\\u001f\"},"
                    + "\"user\":\"u\",\"tools\":[{\"type\":\"function\"," + FUNCTION
                    + "},{\"type\":\"function\",\"name\":\"f\"}],"
                    + "\"tool_choice\":\"none\"";

    private static final Map<String, Exchanged> CASES = new LinkedHashMap<>();

    private static DemoServer demo;
    private static Map<String, String> expected;
    private static String bias;

    /** A request; {@code %s} in its body is a bias towards one token. */
    private record Exchanged(String method, String path, String body, String key, boolean masksTexts) {}

    static {
        exact("models", "GET", "/v1/models", "");
        exact("model", "GET", "/v1/models/demo", "");
        exact("chat", "POST", "/v1/chat/completions", "{" + HELLO + ",\"max_tokens\":3,%s}");
        exact("chat-stream", "POST", "/v1/chat/completions", "{" + HELLO + ",\"max_tokens\":3,\"stream\":true,%s}");
        exact("chat-choices", "POST", "/v1/chat/completions", "{" + HELLO + ",\"max_tokens\":2,\"n\":2,%s}");
        exact(
                "chat-logprobs",
                "POST",
                "/v1/chat/completions",
                "{" + HELLO + ",\"max_tokens\":2,\"logprobs\":true,\"temperature\":0,%s}");
        exact(
                "chat-stream-logprobs",
                "POST",
                "/v1/chat/completions",
                "{" + HELLO + ",\"max_tokens\":2,\"logprobs\":true,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true},%s}");
        exact(
                "chat-continued",
                "POST",
                "/v1/chat/completions",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"Yes\"}],"
                        + "\"continue_final_message\":true,\"max_tokens\":1,%s}");
        shape(
                "chat-top-logprobs",
                "/v1/chat/completions",
                "{" + HELLO + ",\"max_tokens\":2,\"logprobs\":true,\"top_logprobs\":2,\"temperature\":0}");
        shape("chat-call", "/v1/chat/completions", "{" + WEATHER + "}");
        shape("chat-call-stream", "/v1/chat/completions", "{" + WEATHER + ",\"stream\":true}");
        shape("chat-thought", "/v1/chat/completions", "{" + SUM + "}");
        shape("chat-thought-stream", "/v1/chat/completions", "{" + SUM + ",\"stream\":true}");
        exact(
                "completion-echo",
                "POST",
                "/v1/completions",
                "{\"prompt\":\"" + TOLD + "\",\"echo\":true,\"max_tokens\":0}");
        exact(
                "completion",
                "POST",
                "/v1/completions",
                "{\"prompt\":[\"a\",\"b\"],\"max_tokens\":2,\"logprobs\":0,\"echo\":true,\"temperature\":0,%s}");
        exact(
                "completion-stream",
                "POST",
                "/v1/completions",
                "{\"prompt\":\"" + TOLD + "\",\"max_tokens\":2,\"logprobs\":0,\"echo\":true,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true},%s}");
        exact(
                "completion-stream-short",
                "POST",
                "/v1/completions",
                "{\"prompt\":\"a\",\"max_tokens\":2,\"stream\":true,%s}");
        shape(
                "completion-logprobs",
                "/v1/completions",
                "{\"prompt\":\"a\",\"max_tokens\":2,\"logprobs\":2,\"temperature\":0}");
        shape("embeddings", "/v1/embeddings", "{\"input\":[\"a\",\"b\"]}");
        shape("embeddings-packed", "/v1/embeddings", "{\"input\":\"a\",\"encoding_format\":\"base64\"}");
        exact("response", "POST", "/v1/responses", "{\"input\":\"Hi\",\"max_output_tokens\":2,\"store\":false,%s}");
        exact("response-asked", "POST", "/v1/responses", "{\"input\":\"Hi\",\"max_output_tokens\":2," + ASKED + ",%s}");
        exact(
                "response-logprobs",
                "POST",
                "/v1/responses",
                "{\"input\":\"Hi\",\"max_output_tokens\":2,\"include\":[\"message.output_text.logprobs\"],%s}");
        exact(
                "response-stream",
                "POST",
                "/v1/responses",
                "{\"input\":\"Hi\",\"max_output_tokens\":2,\"stream\":true,%s}");
        shape(
                "response-call-stream",
                "/v1/responses",
                "{\"input\":\"What is the weather in Oslo?\",\"tools\":[{\"type\":\"function\"," + FUNCTION
                        + "}],\"temperature\":0,\"max_output_tokens\":60,\"stream\":true}");
        shape(
                "response-call",
                "/v1/responses",
                "{\"input\":\"What is the weather in Oslo?\",\"tools\":[{\"type\":\"function\"," + FUNCTION
                        + "}],\"temperature\":0,\"max_output_tokens\":60}");
        shape(
                "response-thought-stream",
                "/v1/responses",
                "{\"input\":\"What is 12 + 30?\",\"reasoning\":{\"effort\":\"high\"},\"temperature\":0,"
                        + "\"max_output_tokens\":100,\"stream\":true}");
        shape(
                "response-thought",
                "/v1/responses",
                "{\"input\":\"What is 12 + 30?\",\"reasoning\":{\"effort\":\"high\"},\"temperature\":0,"
                        + "\"max_output_tokens\":100}");
        exact("response-unknown", "GET", "/v1/responses/resp_none", "");
        exact("response-delete-unknown", "DELETE", "/v1/responses/resp_none", "");
        exact("tokenize", "POST", "/tokenize", "{\"prompt\":\"a \\\"b\\\"\",\"return_token_strs\":true}");
        exact("tokenize-plain", "POST", "/tokenize", "{\"prompt\":\"a\"}");
        exact("detokenize", "POST", "/detokenize", "{\"tokens\":[34,35]}");
        exact("health", "GET", "/health", "");
        exact("ready", "GET", "/ready", "");
        exact("nothing-there", "GET", "/nowhere", "");
        exact("wrong-method", "GET", "/v1/chat/completions", "");
        exact("no-model", "GET", "/v1/models/other", "");
        exact("no-json", "POST", "/v1/chat/completions", "{");
        exact("unknown-field", "POST", "/v1/chat/completions", "{" + HELLO + ",\"max_tokns\":1}");
        exact("missing-field", "POST", "/v1/chat/completions", "{}");
        exact("wrong-type", "POST", "/v1/chat/completions", "{" + HELLO + ",\"seed\":\"x\"}");
        exact("out-of-range", "POST", "/v1/chat/completions", "{" + HELLO + ",\"temperature\":-1}");
        exact("invalid", "POST", "/v1/chat/completions", "{" + HELLO + ",\"top_logprobs\":2}");
        exact("long-prompt", "POST", "/v1/completions", "{\"prompt\":\"" + "word ".repeat(6000) + "\"}");
        exact("long-answer", "POST", "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1000000}");
        exact("bias-of-no-token", "POST", "/v1/completions", "{\"prompt\":\"a\",\"logit_bias\":{\"99999999\":1}}");
        exact("stop-of-no-token", "POST", "/v1/completions", "{\"prompt\":\"a\",\"stop_token_ids\":[99999999]}");
        exact("prompt-of-no-token", "POST", "/v1/completions", "{\"prompt\":[99999999]}");
        exact("no-tokens", "POST", "/v1/completions", "{\"prompt\":\"\",\"add_special_tokens\":false}");
        exact(
                "response-after-unknown",
                "POST",
                "/v1/responses",
                "{\"input\":\"a\",\"previous_response_id\":\"resp_none\"}");
        exact(
                "continued-by-nothing",
                "POST",
                "/v1/chat/completions",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"\"}],"
                        + "\"continue_final_message\":true}");
        keyed("no-key", "/v1/models", "");
        keyed("wrong-key", "/v1/models", "Bearer wrong");
        keyed("other-scheme", "/v1/models", "Basic YTpi");
        keyed("no-key-for-nothing", "/nowhere", "");
    }

    private static void exact(String name, String method, String path, String body) {
        CASES.put(name, new Exchanged(method, path, body, "Bearer " + KEY, false));
    }

    private static void shape(String name, String path, String body) {
        CASES.put(name, new Exchanged("POST", path, body, "Bearer " + KEY, true));
    }

    private static void keyed(String name, String path, String authorization) {
        CASES.put(name, new Exchanged("GET", path, "", authorization, false));
    }

    @BeforeAll
    static void start() throws IOException {
        var key = new ApiKey("client", ApiKey.sha256(KEY), KeyLimits.DEFAULT);
        demo = new DemoServer(ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withKeys(List.of(key))));
        int quote = demo.engine().tokenizer().encode("\"", new EncodeOptions(false, false))[0];
        bias = "\"logit_bias\":{\"" + quote + "\":100}";
        expected = read();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    static Stream<String> cases() {
        return CASES.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isAsItWas(String name) {
        assertThat(told(Objects.requireNonNull(CASES.get(name)))).isEqualTo(expected.get(name));
    }

    private static String told(Exchanged exchanged) {
        var request = HttpRequest.newBuilder(demo.at(exchanged.path()))
                .method(
                        exchanged.method(),
                        exchanged.body().isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(
                                        exchanged.body().replace("%s", bias)));
        if (!exchanged.body().isEmpty()) {
            request.header("content-type", "application/json");
        }
        if (!exchanged.key().isEmpty()) {
            request.header("authorization", exchanged.key());
        }
        return told(demo.send(request.build()), exchanged.masksTexts());
    }

    private static String told(HttpResponse<String> response, boolean masksTexts) {
        var lines = new ArrayList<String>();
        lines.add(String.valueOf(response.statusCode()));
        for (String name : List.of("content-type", "cache-control", "x-accel-buffering", "www-authenticate", "allow")) {
            response.headers().firstValue(name).ifPresent(value -> lines.add(name + ": " + value));
        }
        for (String line : response.body().split("\n", -1)) {
            String masked = masksTexts ? shape(masked(line)) : masked(line);
            if (!masksTexts || !lines.contains(masked)) {
                lines.add(masked);
            }
        }
        return String.join("\n", lines);
    }

    /** Without what differs from one request to the next, and in the last digits from machine to machine. */
    private static String masked(String line) {
        return line.replaceAll("(chatcmpl-|cmpl-|call_|resp_|msg_|rs_|fc_)[0-9a-f]{24}", "$1ID")
                .replaceAll("\"(created|created_at)\":\\d+", "\"$1\":0")
                .replaceAll("fp_[0-9a-f]+", "fp_0")
                .replaceAll("\"cached_tokens\":\\d+", "\"cached_tokens\":0")
                .replaceAll("\"logprob\":-?[0-9.E-]+", "\"logprob\":-1.0")
                .replaceAll("\"token_logprobs\":\\[[^]]*]", "\"token_logprobs\":[-1.0]");
    }

    /** Without texts that the model chose, and without numbers. */
    private static String shape(String line) {
        return line.replaceAll(
                        "\"(text|content|delta|reasoning_content|arguments|token|embedding)\":\"(?:[^\"\\\\]++|\\\\.)++\"",
                        "\"$1\":\"T\"")
                .replaceAll("\"(?:[^\"\\\\]++|\\\\.)*+\":-?[0-9]+\\.[0-9.E-]+", "\"T\":0.0")
                .replaceAll("-?[0-9]+\\.[0-9.E-]+", "0.0")
                .replaceAll("(0\\.0,)+0\\.0", "0.0")
                .replaceAll("\"bytes\":\\[[^]]*]", "\"bytes\":[0]")
                .replaceAll("\"tokens\":\\[[^]]*]", "\"tokens\":[\"T\"]")
                .replaceAll("\"(index|[a-z_]+_index|max_output_tokens)\":(\\d+)", "\"$1\":\"$2\"")
                .replaceAll(":\\d+", ":0")
                .replaceAll("\"text_offset\":\\[[^]]*]", "\"text_offset\":[0]");
    }

    private static Map<String, String> read() throws IOException {
        var read = new LinkedHashMap<String, String>();
        try (var stream = WireTest.class.getResourceAsStream(EXPECTED)) {
            String text = new String(Objects.requireNonNull(stream, EXPECTED).readAllBytes(), StandardCharsets.UTF_8);
            for (String part : text.split("(?m)^=== ", -1)) {
                int end = part.indexOf('\n');
                if (end > 0) {
                    read.put(part.substring(0, end), part.substring(end + 1, part.length() - 1));
                }
            }
        }
        return read;
    }
}
