package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Ollama's API, answered by the demo model. */
final class OllamaTest {
    private static final String CHAT = "/api/chat";
    private static final String GENERATE = "/api/generate";
    private static final String STORY =
            "\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story about a fox.\"}]";
    private static final String QUESTION = "{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}";
    private static final String WEATHER = """
            "tools":[{"type":"function","function":{"name":"get_weather","description":"The weather in a city now",
              "parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]""";

    private static final String DIGEST = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

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
    void aStreamOfLinesTellsTheSameAsTheWhole() {
        List<JsonNode> lines = lines(CHAT, STORY + options(12));
        JsonNode whole = whole(CHAT, STORY + options(12));
        JsonNode last = lines.getLast();

        assertThat(lines.subList(0, lines.size() - 1)).hasSizeGreaterThan(5).allMatch(line -> !isDone(line));
        assertThat(isDone(last) && isDone(whole)).isTrue();
        assertThat(texts(lines, "/message/content"))
                .isEqualTo(whole.at("/message/content").stringValue());
        for (JsonNode end : List.of(last, whole)) {
            assertThat(end.at("/model").stringValue()).isEqualTo("demo");
            assertThat(end.at("/done_reason").stringValue()).isEqualTo("length");
            assertThat(end.at("/eval_count").intValue()).isEqualTo(12);
            assertThat(end.at("/prompt_eval_count").intValue()).isPositive();
            long parts = end.at("/load_duration").longValue()
                    + end.at("/prompt_eval_duration").longValue()
                    + end.at("/eval_duration").longValue();
            assertThat(parts).isPositive().isEqualTo(end.at("/total_duration").longValue());
        }
    }

    @Test
    void saysTheSameAsOtherDialectsOfTheSameConversation() {
        String chat = demo.post(
                        "/v1/chat/completions", "{" + STORY + ",\"temperature\":0,\"max_completion_tokens\":16}")
                .body();

        assertThat(whole(CHAT, STORY + options(16)).at("/message/content").stringValue())
                .isEqualTo(
                        DemoServer.json(chat).at("/choices/0/message/content").stringValue());
        String prompt = "\"prompt\":\"Tell me a story about a fox.\"";
        assertThat(whole(GENERATE, prompt + options(16)).at("/response").stringValue())
                .isEqualTo(
                        DemoServer.json(chat).at("/choices/0/message/content").stringValue());
    }

    @Test
    void rawTextIsContinuedAsItStands() {
        String completion = demo.post(
                        "/v1/completions", "{\"prompt\":\"Once upon a time\",\"temperature\":0,\"max_tokens\":8}")
                .body();

        JsonNode raw = whole(GENERATE, "\"prompt\":\"Once upon a time\",\"raw\":true" + options(8));

        assertThat(raw.at("/response").stringValue())
                .isEqualTo(DemoServer.json(completion).at("/choices/0/text").stringValue());
        assertThat(raw.has("context")).isFalse();
    }

    @Test
    void aContextIsWhatTheNextPromptFollows() {
        String prompt = "\"prompt\":\"Tell me a story about a fox.\"";
        JsonNode first = whole(GENERATE, prompt + options(8));
        JsonNode context = first.at("/context");
        JsonNode second = whole(GENERATE, "\"prompt\":\"And then?\",\"context\":" + context + options(8));

        assertThat(context).hasSize(first.at("/prompt_eval_count").intValue() + 8);
        int alone = whole(GENERATE, "\"prompt\":\"And then?\"" + options(8))
                .at("/prompt_eval_count")
                .intValue();
        assertThat(second.at("/prompt_eval_count").intValue()).isEqualTo(context.size() + alone);
    }

    @Test
    void aSystemTextComesFirst() {
        String prompt = "\"prompt\":\"Hello\"";

        assertThat(whole(GENERATE, prompt + ",\"system\":\"Be kind.\"" + options(1))
                        .at("/prompt_eval_count")
                        .intValue())
                .isGreaterThan(whole(GENERATE, prompt + options(1))
                        .at("/prompt_eval_count")
                        .intValue());
    }

    @Test
    void callsAToolAndAnswersWithItsResult() {
        JsonNode message = whole(CHAT, "\"messages\":[" + QUESTION + "]," + WEATHER + options(60))
                .at("/message");

        assertThat(message.at("/tool_calls")).hasSize(1);
        assertThat(message.at("/tool_calls/0/function/name").stringValue()).isEqualTo("get_weather");
        assertThat(message.at("/tool_calls/0/function/arguments/city").stringValue())
                .isEqualTo("Oslo");

        String result = "{\"role\":\"tool\",\"tool_name\":\"get_weather\",\"content\":\"{\\\"temperature\\\": 7}\"}";
        JsonNode answer =
                whole(CHAT, "\"messages\":[" + QUESTION + "," + message + "," + result + "]," + WEATHER + options(60));
        assertThat(answer.at("/message/content").stringValue()).contains("Oslo");
        assertThat(answer.at("/done_reason").stringValue()).isEqualTo("stop");
    }

    @Test
    void aToolIsToldInTheOrderThatModelsKnow() {
        String shuffled = WEATHER.replace("\"type\":\"object\",", "\"required\":[\"city\"],\"type\":\"object\",")
                .replace(",\"required\":[\"city\"]}}}]", "}}}]");
        assertThat(shuffled).isNotEqualTo(WEATHER);

        assertThat(whole(CHAT, "\"messages\":[" + QUESTION + "]," + shuffled + options(60))
                        .at("/message/tool_calls/0/function/name")
                        .asString())
                .isEqualTo("get_weather");
    }

    @Test
    void streamsACallAsAWhole() {
        List<JsonNode> calls = lines(CHAT, "\"messages\":[" + QUESTION + "]," + WEATHER + options(60)).stream()
                .filter(line -> line.at("/message").has("tool_calls"))
                .toList();

        assertThat(calls).hasSize(1);
        assertThat(calls.getFirst()
                        .at("/message/tool_calls/0/function/arguments/city")
                        .stringValue())
                .isEqualTo("Oslo");
    }

    @Test
    void thoughtsAreApartAndComeWhenTheyAreAskedFor() {
        String sum = "\"messages\":[{\"role\":\"user\",\"content\":\"What is 12 + 30?\"}]";

        JsonNode thinking = whole(CHAT, sum + ",\"think\":true" + options(100));
        assertThat(thinking.at("/message/thinking").stringValue()).isNotBlank();
        assertThat(thinking.at("/message/content").stringValue()).contains("42");
        assertThat(texts(lines(CHAT, sum + ",\"think\":\"low\"" + options(100)), "/message/thinking"))
                .isEqualTo(thinking.at("/message/thinking").stringValue());
        assertThat(whole(CHAT, sum + ",\"think\":false" + options(60))
                        .at("/message")
                        .has("thinking"))
                .isFalse();
        assertThat(whole(GENERATE, "\"prompt\":\"What is 12 + 30?\",\"think\":true" + options(100))
                        .at("/thinking")
                        .stringValue())
                .isNotBlank();
    }

    @Test
    void holdsAnAnswerToAFormat() {
        String schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"legs\"],"
                + "\"properties\":{\"legs\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":8}}}";
        JsonNode held = whole(CHAT, STORY + ",\"format\":" + schema + options(60));
        JsonNode json = whole(GENERATE, "\"prompt\":\"a fox\",\"raw\":true,\"format\":\"json\"" + options(40));

        assertThat(DemoServer.json(held.at("/message/content").stringValue())
                        .at("/legs")
                        .intValue())
                .isBetween(0, 8);
        assertThat(json.at("/response").stringValue()).startsWith("{");
    }

    @Test
    void tellsLogprobsOfEachToken() {
        String asked = STORY + ",\"logprobs\":true,\"top_logprobs\":2" + options(4);

        JsonNode logprobs = whole(CHAT, asked).at("/logprobs");
        assertThat(logprobs).hasSize(4);
        assertThat(logprobs.at("/0/top_logprobs")).hasSizeGreaterThanOrEqualTo(2);
        assertThat(lines(CHAT, asked).stream()
                        .mapToInt(line -> line.at("/logprobs").size())
                        .sum())
                .isEqualTo(4);
    }

    @Test
    void nothingToAnswerIsARequestToLoad() {
        JsonNode loaded = whole(GENERATE, "\"keep_alive\":\"5m\"");

        assertThat(loaded.at("/done_reason").stringValue()).isEqualTo("load");
        assertThat(whole(CHAT, "\"keep_alive\":-1").at("/done_reason").stringValue())
                .isEqualTo("load");
        assertThat(lines(GENERATE, "")).singleElement().matches(OllamaTest::isDone);
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo", "demo:latest"})
    void aNameMayHaveItsTag(String name) {
        JsonNode answer = whole(CHAT, "\"model\":\"" + name + "\"," + STORY + options(1));

        assertThat(answer.at("/model").stringValue()).isEqualTo(name);
        assertThat(DemoServer.json(demo.post("/api/show", "{\"name\":\"" + name + "\"}")
                                .body())
                        .at("/capabilities")
                        .valueStream()
                        .map(JsonNode::stringValue))
                .containsExactly("completion", "tools", "thinking");
    }

    @Test
    void tellsWhichModelsThereAre() {
        JsonNode listed = DemoServer.json(demo.get("/api/tags").body()).at("/models/0");
        JsonNode running = DemoServer.json(demo.get("/api/ps").body()).at("/models/0");

        assertThat(listed.at("/name").stringValue()).isEqualTo("demo:latest");
        assertThat(listed.at("/digest").stringValue())
                .hasSize(64)
                .isEqualTo(running.at("/digest").stringValue());
        assertThat(listed.at("/size").longValue()).isPositive();
        assertThat(listed.at("/details/family").stringValue()).isEqualTo("llama");
        assertThat(listed.at("/details/families/0").stringValue()).isEqualTo("llama");
        assertThat(listed.at("/details/format").stringValue()).isEqualTo("gguf");
        assertThat(listed.at("/details/quantization_level").stringValue()).isEqualTo("Q8_0");
        assertThat(listed.at("/details/parameter_size").stringValue()).endsWith("M");
        assertThat(running.at("/details")).isEqualTo(listed.at("/details"));
        assertThat(running.at("/size_vram").longValue()).as("on the CPU").isZero();
        assertThat(running.at("/context_length").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(DemoServer.json(demo.get("/api/version").body())
                        .at("/version")
                        .stringValue())
                .matches("\\d+\\.\\d+\\.\\d+");
    }

    @Test
    void showsWhatTheModelsFilesSay() {
        JsonNode shown =
                DemoServer.json(demo.post("/api/show", "{\"model\":\"demo\"}").body());
        JsonNode verbose = DemoServer.json(
                demo.post("/api/show", "{\"model\":\"demo\",\"verbose\":true}").body());

        assertThat(shown.at("/model_info/general.architecture").stringValue()).isEqualTo("llama");
        assertThat(shown.at("/model_info/llama.context_length").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(shown.at("/model_info/general.parameter_count").longValue()).isPositive();
        assertThat(shown.at("/details/family").stringValue()).isEqualTo("llama");
        assertThat(shown.at("/model_info").has("tokenizer.ggml.tokens")).isFalse();
        assertThat(verbose.at("/model_info/tokenizer.ggml.tokens"))
                .hasSize(demo.engine().tokenizer().vocabularySize());
    }

    @Test
    void whatIsThereNeedNotBePulled() {
        assertThat(demo.post("/api/pull", "{\"model\":\"demo\"}").body()).isEqualTo("{\"status\":\"success\"}\n");
        assertThat(demo.post("/api/pull", "{\"model\":\"demo\",\"stream\":false}")
                        .body())
                .isEqualTo("{\"status\":\"success\"}");
        var other = demo.post("/api/pull", "{\"model\":\"llama3\"}");
        assertThat(other.statusCode()).isEqualTo(400);
        assertThat(error(other.body())).contains("there is no model llama3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"push", "blobs/sha256:" + DIGEST})
    void whatIsNotSupportedSaysSo(String path) {
        var refused = demo.post("/api/" + path, "{}");

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(error(refused.body())).contains(" is not supported: ");
    }

    /** As ollama4j writes each message and each chat. */
    @Test
    void passesOverWhatAnAssistantAloneSaysWhereItIsEmpty() {
        String empty = "\"thinking\":null,\"images\":null,\"tool_calls\":[]";
        String user = "{\"role\":\"user\",\"content\":\"Hello\",";
        String rest = ",\"useTools\":true,\"stream\":false,\"options\":{\"num_predict\":2}}";

        var accepted = demo.post(CHAT, "{\"messages\":[" + user + empty + "}]" + rest);
        var thinking = demo.post(CHAT, "{\"messages\":[" + user + "\"thinking\":\"Hm.\"}]" + rest);
        var calling = demo.post(CHAT, "{\"messages\":[" + user + "\"tool_calls\":[{}]}]" + rest);

        var tools = demo.post(
                CHAT,
                "{\"messages\":[" + user + empty
                        + "}],\"tools\":[{\"type\":\"function\",\"mcptool\":false,\"function\":{\"name\":\"f\"}}]"
                        + rest);

        assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(200);
        assertThat(tools.statusCode()).as(tools.body()).isEqualTo(200);
        assertThat(error(thinking.body())).contains("messages[0].thinking is", "an assistant alone thinks");
        assertThat(error(calling.body())).contains("messages[0].tool_calls is");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"options\":{\"temperature\":-1} | options.temperature is -1",
                "\"options\":{\"num_ctx\":99999999} | options.num_ctx is 99999999",
                "\"options\":{\"num_gpu\":3} | options.num_gpu is 3",
                "\"options\":{\"mirostat\":1} | options.mirostat is 1",
                "\"options\":{\"num_ctx\":4} | options.num_ctx is 4",
                "\"options\":{\"best\":1} | unknown field options.best",
                "\"keep_alive\":0 | keep_alive is 0",
                "\"keep_alive\":\"0s\" | not unloaded",
                "\"keep_alive\":\"long\" | keep_alive is",
                "\"think\":\"much\" | think is",
                "\"format\":\"xml\" | format is",
                "\"truncate\":true | truncate is true",
                "\"top_logprobs\":2 | top_logprobs is 2",
                "\"tools\":[{\"type\":\"function\"}] | tools[0].function is missing",
                "\"useTools\":1 | useTools",
                "\"model\":\"llama3\" | there is no model llama3",
            })
    void refusesByNameWhatItDoesNotHonour(String field, String said) {
        assertThat(error(demo.post(CHAT, "{" + STORY + "," + field + "}").body()))
                .contains(said);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"suffix\":\"x\" | suffix is",
                "\"raw\":true,\"template\":\"x\" | template is there, but",
                "\"images\":[\"aGk=\"] | images is",
                "\"raw\":true,\"system\":\"x\" | system is there, but",
                "\"raw\":true,\"context\":[1] | context is there, but",
                "\"raw\":true,\"think\":true | think is there, but",
            })
    void refusesWhatACompletionCannotHave(String field, String said) {
        assertThat(error(demo.post(GENERATE, "{\"prompt\":\"a\"," + field + "}").body()))
                .contains(said);
    }

    @Test
    void optionsThatSayWhatHappensAnywayAreAccepted() {
        whole(CHAT, STORY + """
                ,"keep_alive":"1h30m","truncate":false,"options":{"num_predict":2,"num_ctx":64,"num_keep":4,"num_gpu":-1,
                 "use_mmap":true,"repeat_last_n":0,"repeat_penalty":1.3,"typical_p":0.9,"seed":1,"mirostat":0,"tfs_z":1}""");
    }

    @Test
    void promptAndAnswerHaveNoMoreTokensThanTheirContext() {
        int prompt = whole(CHAT, STORY + options(1)).at("/prompt_eval_count").intValue();

        JsonNode cut = whole(CHAT, STORY + context(prompt + 3));
        var refused = demo.post(CHAT, "{" + STORY + context(prompt) + "}");
        int raw = demo.engine().context();

        assertThat(cut.at("/eval_count").intValue()).isEqualTo(3);
        assertThat(cut.at("/done_reason").stringValue()).isEqualTo("length");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(error(refused.body()))
                .isEqualTo("the prompt has " + prompt + " tokens, but options.num_ctx is " + prompt
                        + " with at least one generated: shorten it");
        assertThat(whole(GENERATE, "\"prompt\":\"a\",\"raw\":true" + context(raw))
                        .at("/eval_count")
                        .intValue())
                .as("no less than the server's")
                .isEqualTo(20);
    }

    private static String context(int tokens) {
        return ",\"options\":{\"temperature\":0,\"num_predict\":20,\"num_ctx\":" + tokens + "}";
    }

    @Test
    void penaltiesThatAreNoneMayLookBackAsFarAsTheyLike() {
        String plain = whole(CHAT, STORY + options(8)).at("/message/content").stringValue();

        JsonNode same = whole(
                CHAT,
                STORY
                        + ",\"options\":{\"temperature\":0,\"num_predict\":8,\"repeat_last_n\":64,\"repeat_penalty\":1.0}");

        assertThat(same.at("/message/content").stringValue()).isEqualTo(plain);
    }

    @Test
    void embedsWithModelsThatGenerate() {
        JsonNode others = DemoServer.json(
                demo.post("/v1/embeddings", "{\"input\":[\"a fox\",\"a hen\"]}").body());

        JsonNode vectors =
                DemoServer.json(demo.post("/api/embed", "{\"model\":\"demo\",\"input\":[\"a fox\",\"a hen\"]}")
                        .body());
        JsonNode one = DemoServer.json(demo.post("/api/embeddings", "{\"model\":\"demo\",\"prompt\":\"a fox\"}")
                .body());
        String longText = "a fox and a hen ".repeat(demo.engine().context());
        JsonNode cut = DemoServer.json(
                demo.post("/api/embed", "{\"model\":\"demo\",\"truncate\":true,\"input\":\"" + longText + "\"}")
                        .body());

        assertThat(vectors.at("/embeddings/0")).isEqualTo(others.at("/data/0/embedding"));
        assertThat(vectors.at("/embeddings/1")).isEqualTo(others.at("/data/1/embedding"));
        assertThat(vectors.at("/prompt_eval_count")).isEqualTo(others.at("/usage/prompt_tokens"));
        assertThat(one.at("/embedding")).hasSameSizeAs(vectors.at("/embeddings/0"));
        assertThat(cut.at("/prompt_eval_count").intValue())
                .isEqualTo(demo.engine().context() - 1);
        assertThat(error(demo.post("/api/embed", "{\"input\":\"a\",\"dimensions\":3}")
                        .body()))
                .contains("dimensions is 3");
    }

    @Test
    void aBodyIsReadWhateverItsTypeIsCalled() {
        var request = HttpRequest.newBuilder(demo.at("/api/show"))
                .header("content-type", "application/x-www-form-urlencoded") // as curl -d says
                .POST(BodyPublishers.ofString("{\"model\":\"demo\"}"))
                .build();

        assertThat(demo.send(request).statusCode()).isEqualTo(200);
    }

    private static String options(int tokens) {
        return ",\"options\":{\"temperature\":0,\"num_predict\":" + tokens + "}";
    }

    private static boolean isDone(JsonNode line) {
        return line.at("/done").booleanValue();
    }

    private static String error(String body) {
        return DemoServer.json(body).at("/error").stringValue();
    }

    private static JsonNode whole(String path, String fields) {
        var response = demo.post(
                path, "{\"stream\":false" + (fields.startsWith(",") || fields.isEmpty() ? "" : ",") + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return named(response.body());
    }

    private static JsonNode named(String body) {
        JsonNode answer = DemoServer.json(body);
        assertThat(answer.at("/created_at").stringValue()).startsWith("20");
        return answer;
    }

    private static List<JsonNode> lines(String path, String fields) {
        String model = fields.isEmpty() ? "\"model\":\"demo\"" : "\"model\":\"demo\",";
        var response = demo.post(path, "{" + model + fields + "}");
        assertThat(response.headers().firstValue("content-type")).contains("application/x-ndjson");
        return response.body().lines().map(OllamaTest::named).toList();
    }

    private static String texts(List<JsonNode> lines, String place) {
        return lines.stream().map(line -> line.at(place).asString("")).collect(Collectors.joining());
    }
}
