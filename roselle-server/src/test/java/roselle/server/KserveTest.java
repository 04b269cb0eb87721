package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The paths of KServe's protocol and of Triton's extensions, answered by the demo model. */
final class KserveTest {
    private static final String MODEL = "/v2/models/demo";
    private static final String TEXT = "Once upon a time";
    private static final String JSON_BYTES = "Inference-Header-Content-Length";
    private static final String GREEDY = "\"max_tokens\":8,\"temperature\":0";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static String tensor(String name, String datatype, String value) {
        return "{\"name\":\"%s\",\"shape\":[1],\"datatype\":\"%s\",\"data\":[%s]}".formatted(name, datatype, value);
    }

    private static String text(String name, String value) {
        return tensor(name, "BYTES", DemoServer.MAPPER.writeValueAsString(value));
    }

    private static String infer(String inputs, String parameters) {
        return "{\"inputs\":[" + text("text_input", TEXT) + inputs + "],\"parameters\":{" + parameters + "}}";
    }

    private static JsonNode answer(String path, String body) {
        var response = demo.post(path, body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static String continuation() {
        String other = demo.post("/v1/completions", "{\"prompt\":\"" + TEXT + "\"," + GREEDY + "}")
                .body();
        return DemoServer.json(other).at("/choices/0/text").stringValue();
    }

    // ---- infer ----

    @Test
    void continuesATextAsOtherDialectsDo() {
        JsonNode told = answer(MODEL + "/infer", infer("", GREEDY));
        String excluded = "," + tensor("exclude_input_in_output", "BOOL", "true");
        JsonNode alone = answer(MODEL + "/versions/1/infer", infer(excluded, GREEDY));

        assertThat(told.at("/model_name").stringValue()).isEqualTo("demo");
        assertThat(told.at("/outputs/0/shape/0").intValue()).isEqualTo(1);
        assertThat(told.at("/outputs/0/data/0").stringValue()).isEqualTo(TEXT + continuation());
        assertThat(alone.at("/outputs/0/data/0").stringValue()).isEqualTo(continuation());
    }

    @Test
    void tellsTheOutputsThatFlagsOrNamesAskFor() {
        String flags = "," + tensor("return_finish_reason", "BOOL", "true") + ","
                + tensor("return_num_output_tokens", "BOOL", "true");
        String named = "{\"id\":\"7\",\"inputs\":[" + text("text_input", TEXT) + "],\"parameters\":{" + GREEDY
                + ",\"n\":2},\"outputs\":[{\"name\":\"num_input_tokens\"},{\"name\":\"cumulative_logprob\"}]}";

        JsonNode flagged = answer(MODEL + "/infer", infer(flags, GREEDY)).at("/outputs");
        JsonNode chosen = answer(MODEL + "/infer", named);

        assertThat(names(flagged)).isEqualTo("text_output finish_reason num_output_tokens");
        assertThat(flagged.at("/1/data/0").stringValue()).isEqualTo("length");
        assertThat(flagged.at("/2/data/0").intValue()).isEqualTo(8);
        assertThat(chosen.at("/id").stringValue()).isEqualTo("7");
        assertThat(names(chosen.at("/outputs"))).isEqualTo("num_input_tokens cumulative_logprob");
        assertThat(chosen.at("/outputs/1/data")).hasSize(2);
        assertThat(chosen.at("/outputs/1/data/0").doubleValue()).isNegative();
    }

    private static String names(JsonNode outputs) {
        return outputs.valueStream()
                .map(output -> output.at("/name").stringValue())
                .collect(Collectors.joining(" "));
    }

    @Test
    void readsAndWritesTensorsBehindTheJson() {
        String json = """
                {"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":20}},
                 {"name":"exclude_input_in_output","shape":[1],"datatype":"BOOL","parameters":{"binary_data_size":1}}],
                 "outputs":[{"name":"text_output","parameters":{"binary_data":true}},{"name":"num_output_tokens"}],
                 "parameters":{%s}}""".formatted(GREEDY);
        var rest = new ByteArrayOutputStream();
        rest.writeBytes(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(TEXT.length())
                .array());
        rest.writeBytes(TEXT.getBytes(StandardCharsets.UTF_8));
        rest.write(1);

        HttpResponse<byte[]> response = binary(json, rest.toByteArray());
        int jsonBytes =
                Integer.parseInt(response.headers().firstValue(JSON_BYTES).orElseThrow());
        JsonNode outputs = DemoServer.json(new String(response.body(), 0, jsonBytes, StandardCharsets.UTF_8))
                .at("/outputs");
        byte[] tensors = Arrays.copyOfRange(response.body(), jsonBytes, response.body().length);

        assertThat(outputs.at("/0/parameters/binary_data_size").intValue()).isEqualTo(tensors.length);
        assertThat(outputs.at("/0").has("data")).isFalse();
        assertThat(outputs.at("/1/data/0").intValue()).isEqualTo(8);
        assertThat(ByteBuffer.wrap(tensors).order(ByteOrder.LITTLE_ENDIAN).getInt())
                .isEqualTo(tensors.length - 4);
        assertThat(new String(tensors, 4, tensors.length - 4, StandardCharsets.UTF_8))
                .isEqualTo(continuation());
    }

    private static HttpResponse<byte[]> binary(String json, byte[] rest) {
        byte[] head = json.getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, head.length + rest.length);
        System.arraycopy(rest, 0, body, head.length, rest.length);
        return send(body, Integer.toString(head.length));
    }

    private static HttpResponse<byte[]> send(byte[] body, String jsonBytes) {
        try {
            return demo.client()
                    .send(
                            HttpRequest.newBuilder(demo.at(MODEL + "/infer"))
                                    .header(JSON_BYTES, jsonBytes)
                                    .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                                    .build(),
                            HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "3 | 00000000 | are not one element",
                "8 | 0400000061626364 | ",
                "8 | 0500000061626364 | are not one element",
                "8 | 04000000ff626364 | no text in UTF-8",
                "9 | 0400000061626364 | 8 bytes are left behind the JSON",
                "8 | 040000006162636400 | 1 bytes behind the JSON belong to no input",
            })
    void refusesBytesThatAreNoTensor(int size, String hex, String said) {
        String json = "{\"inputs\":[{\"name\":\"text_input\",\"shape\":[1],\"datatype\":\"BYTES\",\"parameters\":"
                + "{\"binary_data_size\":" + size + "}}],\"parameters\":{\"max_tokens\":1}}";

        var response = binary(json, java.util.HexFormat.of().parseHex(hex));

        if (said == null) {
            assertThat(response.statusCode()).isEqualTo(200);
        } else {
            assertThat(response.statusCode()).isEqualTo(400);
            String error = DemoServer.json(new String(response.body(), StandardCharsets.UTF_8))
                    .at("/error")
                    .stringValue();
            assertThat(error).contains(said);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "x", "99999999999", "500"})
    void refusesALengthThatIsNone(String jsonBytes) {
        assertThat(send(infer("", GREEDY).getBytes(StandardCharsets.UTF_8), jsonBytes)
                        .statusCode())
                .isEqualTo(400);
    }

    @Test
    void readsSamplingParametersAsAText() {
        String asTriton =
                "," + text("sampling_parameters", "{\"temperature\":\"0\",\"max_tokens\":\"8\",\"top_p\":0.5}");
        String format = "," + text("sampling_parameters", "{\"structured_outputs\":\"{\\\"choice\\\":[\\\"yes\\\"]}\"}")
                + "," + tensor("exclude_input_in_output", "BOOL", "true");

        assertThat(answer(MODEL + "/infer", infer(asTriton, ""))
                        .at("/outputs/0/data/0")
                        .stringValue())
                .isEqualTo(TEXT + continuation());
        assertThat(answer(MODEL + "/infer", infer(format, ""))
                        .at("/outputs/0/data/0")
                        .stringValue())
                .isEqualTo("yes");
        for (String wrong : List.of(
                "{\"temperature\":\"hot\"}",
                "{\"seed\":\"1 2\"}",
                " ".repeat(200_000),
                "[]",
                "{\"top_n\":1}",
                "{\"top_p\":2}")) {
            var refused = demo.post(MODEL + "/infer", infer("," + text("sampling_parameters", wrong), ""));
            assertThat(refused.statusCode()).as(wrong).isEqualTo(400);
            assertThat(refused.body()).contains("sampling_parameters");
        }
        assertThat(demo.post(MODEL + "/infer", infer(asTriton, GREEDY)).body()).contains("unknown field parameters.");
    }

    // ---- generate ----

    @Test
    void aStreamHasTheWholeInPieces() {
        String all = ",\"return_finish_reason\":true,\"return_num_output_tokens\":true,\"return_logprobs\":true";
        String asked = "{\"text_input\":\"" + TEXT + "\",\"parameters\":{" + GREEDY + ",\"logprobs\":1" + all;
        JsonNode whole = answer(MODEL + "/generate", asked + ",\"exclude_input_in_output\":true}}");
        List<JsonNode> events = events(asked + ",\"stream\":true}}");
        List<JsonNode> single = events(asked + ",\"exclude_input_in_output\":true}}");

        assertThat(whole.at("/text_output").stringValue()).isEqualTo(continuation());
        assertThat(events.stream()
                        .map(event -> event.at("/text_output").stringValue())
                        .collect(Collectors.joining()))
                .isEqualTo(continuation());
        assertThat(events.stream()
                        .mapToInt(event -> event.at("/num_output_tokens").intValue())
                        .sum())
                .isEqualTo(8);
        assertThat(events.getFirst().at("/finish_reason").stringValue()).isEqualTo("None");
        assertThat(events.getLast().at("/finish_reason").stringValue()).isEqualTo("length");
        assertThat(single).containsExactly(whole);
        assertThat(DemoServer.json(whole.at("/logprobs").stringValue())).hasSize(8);
        assertThat(DemoServer.json(whole.at("/logprobs").stringValue())
                        .at("/0")
                        .values()
                        .iterator()
                        .next()
                        .at("/rank")
                        .intValue())
                .isEqualTo(1);
    }

    private static List<JsonNode> events(String body) {
        var response = demo.post(MODEL + "/generate_stream", body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.events(response.body()).stream().map(DemoServer::json).toList();
    }

    @Test
    void severalAnswersAreAnArray() {
        JsonNode two = answer(
                MODEL + "/generate",
                "{\"id\":\"a\",\"text_input\":\"a\",\"return_num_input_tokens\":true,\"parameters\":{\"n\":2,\"max_tokens\":2,"
                        + "\"structured_outputs\":\"{\\\"choice\\\":[\\\"yes\\\",\\\"no\\\"]}\"}}");

        assertThat(two.at("/id").stringValue()).isEqualTo("a");
        assertThat(two.at("/text_output")).hasSize(2);
        assertThat(two.at("/text_output/0").stringValue()).isIn("ayes", "ano", "ay", "an", "aye");
        assertThat(two.at("/num_input_tokens").isIntegralNumber()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "infer | {} | inputs is missing",
                "infer | {\"inputs\":[]} | text_input is missing",
                "infer | {\"model_name\":\"other\",\"inputs\":[]} | the path names demo",
                "generate | {} | text_input is missing",
                "generate | {\"text_input\":\"a\",\"stream\":true} | generate_stream streams",
                "generate | {\"text_input\":\"a\",\"stream\":false,\"parameters\":{\"stream\":true}} | stream is there twice",
                "generate | {\"text_input\":\"a\",\"image\":\"x\"} | unknown field image",
                "generate | {\"text_input\":\"a\",\"parameters\":{\"temprature\":1}} | unknown field parameters.temprature",
                "generate | {\"text_input\":\"a\",\"parameters\":{\"lora_name\":\"x\"}} | an adapter is asked for as a model",
                "generate_stream | {\"text_input\":\"a\",\"stream\":true,\"exclude_input_in_output\":false} | does not tell of its prompt",
            })
    void refusesByNameWhatItDoesNotHonour(String action, String body, String said) {
        var refused = demo.post(MODEL + "/" + action, body);

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(refused.body()).at("/error").stringValue()).contains(said);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"name\":\"image\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"x\"] | inputs[1].name is no input",
                "\"name\":\"stream\",\"shape\":[2],\"datatype\":\"BOOL\",\"data\":[true] | inputs[1].shape[0] is 2",
                "\"name\":\"stream\",\"shape\":[],\"datatype\":\"BOOL\",\"data\":[true] | inputs[1].shape is empty",
                "\"name\":\"stream\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"x\"] | inputs[1].datatype must be BOOL",
                "\"name\":\"stream\",\"shape\":[1],\"datatype\":\"BOOL\",\"data\":[1] | an array of one boolean",
                "\"name\":\"stream\",\"shape\":[1],\"datatype\":\"BOOL\",\"data\":[true,true] | an array of one element",
                "\"name\":\"stream\",\"shape\":[1],\"datatype\":\"BOOL\",\"data\":[true] | infer answers once",
                "\"name\":\"text_input\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"x\"] | text_input is there twice",
                "\"name\":\"stream\",\"shape\":[1],\"datatype\":\"BOOL\",\"parameters\":{\"shared_memory_region\":\"x\"}"
                        + " | shared memory is not supported",
            })
    void refusesTensorsThatAreNoInput(String tensor, String said) {
        var refused = demo.post(MODEL + "/infer", infer(",{" + tensor + "}", ""));

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(refused.body()).at("/error").stringValue()).contains(said);
    }

    // ---- the server and its models ----

    @Test
    void tellsOfItselfAndItsModels() {
        JsonNode metadata = DemoServer.json(demo.get(MODEL).body());
        JsonNode configuration = DemoServer.json(demo.get(MODEL + "/config").body());

        assertThat(DemoServer.json(demo.get("/v2").body()).at("/extensions").toString())
                .contains("binary_tensor_data", "generate");
        assertThat(demo.get("/v2/health/live").body()).isEqualTo("{\"live\":true}");
        assertThat(demo.get("/v2/health/ready").body()).isEqualTo("{\"ready\":true}");
        assertThat(demo.get(MODEL + "/ready").body()).isEqualTo("{\"name\":\"demo\",\"ready\":true}");
        assertThat(demo.get(MODEL + "/versions/1/ready").statusCode()).isEqualTo(200);
        assertThat(names(metadata.at("/inputs"))).startsWith("text_input stream sampling_parameters");
        assertThat(configuration.at("/input/0/data_type").stringValue()).isEqualTo("TYPE_STRING");
        assertThat(DemoServer.json(demo.post("/v2/repository/index", "").body())
                        .at("/0/state")
                        .stringValue())
                .isEqualTo("READY");
        assertThat(DemoServer.json(
                        demo.post("/v2/repository/index", "{\"ready\":true}").body()))
                .hasSize(1);
        assertThat(demo.post("/v2/repository/index", "{\"readyy\":true}").statusCode())
                .isEqualTo(400);
    }

    @Test
    void countsWhatItAnswered() {
        JsonNode before = stats("/v2/models/stats");
        answer(MODEL + "/generate", "{\"text_input\":\"a\",\"parameters\":{\"max_tokens\":1}}");
        demo.post(MODEL + "/generate", "{}");
        JsonNode after = stats(MODEL + "/stats");

        assertThat(after.at("/inference_count").intValue())
                .isEqualTo(before.at("/inference_count").intValue() + 1);
        assertThat(after.at("/inference_stats/fail/count").intValue())
                .isEqualTo(before.at("/inference_stats/fail/count").intValue() + 1);
        assertThat(after.at("/inference_stats/success/ns").longValue())
                .isGreaterThan(before.at("/inference_stats/success/ns").longValue());
        assertThat(after.at("/last_inference").longValue()).isPositive();
    }

    private static JsonNode stats(String path) {
        return DemoServer.json(demo.get(path).body()).at("/model_stats/0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/ready", "/config", "/stats", "/versions/1/ready"})
    void knowsNoModelButItsOwn(String action) {
        assertThat(demo.get("/v2/models/other" + action).statusCode()).isEqualTo(404);
        assertThat(demo.get(MODEL + "/versions/2").statusCode()).isEqualTo(404);
        assertThat(demo.post("/v2/models/other/infer", "{}").statusCode()).isEqualTo(404);
        assertThat(DemoServer.json(demo.get("/v2/models/other" + action).body())
                        .at("/error")
                        .stringValue())
                .contains("there is no model other");
    }

    @Test
    void namesMayHaveSlashes() {
        for (String action : List.of("", "/ready", "/stats", "/versions/1/config")) {
            assertThat(demo.get("/v2/models/a/b%20c" + action).body()).contains("there is no model a/b c: ");
        }
    }

    @Test
    void saysWhichMethodAPathTakes() {
        assertThat(demo.get(MODEL + "/infer").statusCode()).isEqualTo(405);
        assertThat(demo.get(MODEL + "/infer").headers().firstValue("allow")).contains("POST, OPTIONS");
        assertThat(demo.post(MODEL + "/config", "{}").headers().firstValue("allow"))
                .contains("GET, HEAD, OPTIONS");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v2/logging",
                "/v2/trace/setting",
                "/v2/models/demo/trace/setting",
                "/v2/systemsharedmemory/status",
                "/v2/systemsharedmemory/region/x/register",
                "/v2/cudasharedmemory/unregister",
                "/v2/repository/models/demo/load",
                "/v2/repository/models/demo/unload"
            })
    void saysWhatIsNotSupported(String path) {
        var refused = demo.post(path, "{}");

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(refused.body()).at("/error").stringValue()).contains("is not supported");
    }
}
