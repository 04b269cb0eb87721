package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** A model that a client made by Ollama's API, asked by the others: each as the model that answers, told the same in full. */
final class CreatedModelsTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String SYSTEM = "Be short.";
    private static final String TEMPLATE = "{{ range .Messages }}[{{ .Role }}] {{ .Content }}\\n{{ end }}[assistant] ";

    @TempDir
    private static Path folder;

    private static Server server;

    @BeforeAll
    static void start() throws IOException {
        Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        Path encoder = EncoderServer.MODELS.resolve("bert");
        try (Stream<Path> files = Files.walk(encoder)) { // folders before what is in them
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve("bert").resolve(encoder.relativize(file)));
            }
        }
        server = open(Control.POLL);
        create(
                "foxes",
                "\"system\":\"" + SYSTEM + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
                        + "{\"role\":\"assistant\",\"content\":\"Hello\"}],"
                        + "\"parameters\":{\"temperature\":0,\"num_predict\":9}");
        create("drawn", "\"parameters\":{\"temperature\":0.9,\"seed\":7,\"num_predict\":12}");
        create("stopped", "\"parameters\":{\"temperature\":0,\"num_predict\":40,\"stop\":[\" \"]}");
        create("narrow", "\"parameters\":{\"temperature\":0,\"num_ctx\":40}");
        create("lines", "\"template\":\"" + TEMPLATE + "\",\"parameters\":{\"temperature\":0,\"num_predict\":6}");
    }

    private static Server open(Control control) {
        var repository =
                new ModelRepository(folder, control, Duration.ofHours(1), CreatedModelsTest::pooled, Optional.empty());
        return Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(List.of(), 0, PoolOptions.PATIENCE, Optional.of(repository)));
    }

    private static PooledModel pooled(Path path) {
        EngineConfig config = EngineConfig.of(path);
        return path.endsWith("bert")
                ? PooledModel.of("bert", config)
                : PooledModel.of("demo", config.with(new BatchOptions(256, 4, 64, 0, 16)));
    }

    private static void create(String name, String rest) {
        var made = post("/api/create", "{\"model\":\"" + name + "\",\"from\":\"demo\",\"stream\":false," + rest + "}");
        assertThat(made.body()).isEqualTo("{\"status\":\"success\"}");
    }

    @AfterAll
    static void stop() {
        server.close();
        CLIENT.close();
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return CLIENT.send(request.build(), BodyHandlers.ofString());
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(server.uri() + path)).header("content-type", "application/json");
    }

    private static HttpResponse<String> post(String path, String body) {
        return send(to(path).POST(BodyPublishers.ofString(body)));
    }

    private static JsonNode answer(String path, String body) {
        var answer = post(path, body.replace('\'', '"'));
        assertThat(answer.statusCode())
                .as(path + " " + body + " " + answer.body())
                .isEqualTo(200);
        return DemoServer.json(answer.body());
    }

    private static JsonNode get(String path) {
        return DemoServer.json(send(to(path).GET()).body());
    }

    private static final String HISTORY = "{'role':'user','content':'Hi'},{'role':'assistant','content':'Hello'},";
    private static final String ASKED = "{'role':'user','content':'Tell me a story.'}";

    /** What the model says that answers, told by one API what the other model would add. */
    private static String told(String system) {
        return answer(
                        "/v1/chat/completions",
                        "{'model':'demo','temperature':0,'max_tokens':9,'messages':[{'role':'system','content':'"
                                + system + "'}," + HISTORY + ASKED + "]}")
                .at("/choices/0/message/content")
                .stringValue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /v1/chat/completions            | {'model':'foxes','messages':[@]}                      | /choices/0/message/content
                    /v1/chat/completions            | {'model':'foxes:latest','messages':[@]}               | /choices/0/message/content
                    /v1/responses                   | {'model':'foxes','input':[@]}                         | /output/0/content/0/text
                    /v1/messages                    | {'model':'foxes','max_tokens':9,'messages':[@]}       | /content/0/text
                    /v1/completions                 | {'model':'foxes','prompt':'Tell me a story.'}         | /choices/0/text
                    /completion                     | {'model':'foxes','prompt':'Tell me a story.'}         | /content
                    /generate                       | {'model':'foxes','inputs':'Tell me a story.'}         | /generated_text
                    /v2/models/foxes/generate       | {'text_input':'Tell me a story.','parameters':{'exclude_input_in_output':true}} | /text_output
                    /api/chat                       | {'model':'foxes','stream':false,'messages':[@]}       | /message/content
                    /api/generate                   | {'model':'foxes','stream':false,'prompt':'Tell me a story.'} | /response
                    """)
    void isTheModelThatAnswersToldTheSameInFull(String path, String body, String text) {
        assertThat(answer(path, body.replace("@", ASKED)).at(text).stringValue())
                .isEqualTo(told(SYSTEM));
    }

    @Test
    void aSystemMessageOfARequestStandsInThePlaceOfTheModels() {
        String own = "Speak of wolves.";
        String chat = "{'model':'foxes','messages':[{'role':'system','content':'" + own + "'}," + ASKED + "]}";
        assertThat(answer("/v1/chat/completions", chat)
                        .at("/choices/0/message/content")
                        .stringValue())
                .isEqualTo(told(own));
        String message = "{'model':'foxes','max_tokens':9,'system':'" + own + "','messages':[" + ASKED + "]}";
        assertThat(answer("/v1/messages", message).at("/content/0/text").stringValue())
                .isEqualTo(told(own));
        String response = "{'model':'foxes','instructions':'" + own + "','input':[" + ASKED + "]}";
        assertThat(answer("/v1/responses", response)
                        .at("/output/0/content/0/text")
                        .stringValue())
                .isEqualTo(told(own));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /v1/messages/count_tokens       | {'model':'foxes','messages':[@]}                      | /input_tokens
                    /tokenize                       | {'model':'foxes','messages':[@]}                      | /count
                    """)
    void countsWhatItAdds(String path, String body, String count) {
        int counted = answer(path, body.replace("@", ASKED)).at(count).intValue();
        String plain = body.replace("foxes", "demo")
                .replace("@", "{'role':'system','content':'" + SYSTEM + "'}," + HISTORY + ASKED);
        int expected = answer("/tokenize", plain).at("/count").intValue();
        assertThat(counted).isEqualTo(expected);
    }

    @Test
    void aTemplateOfItsOwnWritesItsPrompts() {
        String body = "{'model':'lines','messages':[" + ASKED + "]}";
        String spelled = answer("/apply-template", body).at("/prompt").stringValue();
        assertThat(spelled).contains("[user] Tell me a story.\n[assistant] ").doesNotContain("<|im_start|>");
        JsonNode asText = answer(
                "/completion",
                "{'model':'demo','temperature':0,'n_predict':6,'prompt':'[user] Tell me a story.\\n[assistant] '}");
        JsonNode asChat = answer("/v1/chat/completions", body);
        assertThat(asChat.at("/choices/0/message/content")).isEqualTo(asText.at("/content"));
        assertThat(answer("/completion", "{'model':'lines','prompt':'Tell me a story.'}")
                        .at("/content"))
                .isEqualTo(asText.at("/content"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /v1/chat/completions | {'messages':[@]}                | {'max_tokens':3}              | /usage/completion_tokens
                    /v1/responses        | {'input':[@]}                   | {'max_output_tokens':3}       | /usage/output_tokens
                    /v1/completions      | {'prompt':'Once'}               | {'max_tokens':3}              | /usage/completion_tokens
                    /completion          | {'prompt':'Once'}               | {'n_predict':3}               | /tokens_predicted
                    /api/chat            | {'stream':false,'messages':[@]} | {'options':{'num_predict':3}} | /eval_count
                    """)
    void aRequestsOwnFieldsComeFirst(String path, String asked, String own, String count) {
        String body = asked.replace("@", ASKED).replaceFirst("[{]", "{'model':'drawn',");
        assertThat(answer(path, body).at(count).intValue()).isEqualTo(12);
        String more = body.substring(0, body.length() - 1) + "," + own.substring(1);
        assertThat(answer(path, more).at(count).intValue()).isEqualTo(3);
    }

    @Test
    void tokensAreDrawnAsItSays() {
        String prompt = "'prompt':'Once upon a time'";
        JsonNode made =
                answer("/v1/completions", "{'model':'drawn'," + prompt + "}").at("/choices/0/text");
        JsonNode asked = answer(
                        "/v1/completions", "{'model':'demo','temperature':0.9,'seed':7,'max_tokens':12," + prompt + "}")
                .at("/choices/0/text");
        JsonNode greedy = answer("/v1/completions", "{'model':'drawn','temperature':0," + prompt + "}")
                .at("/choices/0/text");
        assertThat(made).isEqualTo(asked).isNotEqualTo(greedy);
        JsonNode continued = answer("/generate", "{'model':'drawn','inputs':'Once upon a time'}")
                .at("/generated_text");
        assertThat(continued).isEqualTo(asked);
        JsonNode likeliest = answer(
                        "/generate", "{'model':'drawn','inputs':'Once upon a time','parameters':{'do_sample':false}}")
                .at("/generated_text");
        assertThat(likeliest).isEqualTo(greedy);
    }

    @Test
    void anAnswerEndsBeforeItsStops() {
        String asked = "'messages':[" + ASKED + "]";
        assertThat(answer("/v1/chat/completions", "{'model':'stopped'," + asked + "}")
                        .at("/choices/0/message/content")
                        .stringValue())
                .doesNotContain(" ");
        JsonNode message = answer("/v1/messages", "{'model':'stopped','max_tokens':40," + asked + "}");
        assertThat(message.at("/stop_sequence").stringValue()).isEqualTo(" ");
        assertThat(answer("/v1/chat/completions", "{'model':'stopped','stop':[]," + asked + "}")
                        .at("/choices/0/message/content")
                        .stringValue())
                .contains(" ");
    }

    @Test
    void promptAndAnswerHaveTheContextThatItSays() {
        JsonNode usage = answer("/v1/chat/completions", "{'model':'narrow','messages':[" + ASKED + "]}")
                .at("/usage");
        assertThat(usage.at("/total_tokens").intValue()).isLessThanOrEqualTo(40);
        String longer = "Tell me a story. ".repeat(12);
        var refused = post(
                "/v1/chat/completions",
                "{\"model\":\"narrow\",\"messages\":[{\"role\":\"user\",\"content\":\"" + longer + "\"}]}");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("num_ctx is 40", "context_length_exceeded");
        assertThat(get("/v1/models/narrow").at("/max_model_len").intValue()).isEqualTo(40);
    }

    @Test
    void isListedWithTheModelThatAnswers() {
        JsonNode listed = get("/v1/models");
        assertThat(listed.at("/data").values().stream()
                        .map(model -> model.path("id").stringValue()))
                .containsExactly(
                        "bert",
                        "demo",
                        "drawn:latest",
                        "foxes:latest",
                        "lines:latest",
                        "narrow:latest",
                        "stopped:latest");
        for (String name : List.of("foxes", "foxes:latest")) {
            JsonNode model = get("/v1/models/" + name);
            assertThat(model.at("/id").stringValue()).isEqualTo("foxes:latest");
            assertThat(model.at("/parent").stringValue()).isEqualTo("demo");
        }
        assertThat(get("/models").toString()).as("what takes memory").doesNotContain("foxes");
        assertThat(send(to("/v1/models/foxes")
                                .header("anthropic-version", "2023-06-01")
                                .GET())
                        .body())
                .contains("\"display_name\":\"foxes:latest\"");
        assertThat(get("/v2/models/foxes/ready").at("/ready").booleanValue()).isTrue();
        assertThat(get("/v2/models/foxes").at("/name").stringValue()).isEqualTo("foxes:latest");
        assertThat(get("/props?model=narrow")
                        .at("/default_generation_settings/params/temperature")
                        .doubleValue())
                .isZero();
    }

    @Test
    void whatWouldBeLeftOutIsRefused() {
        var echoed = post("/v1/completions", "{\"model\":\"foxes\",\"prompt\":\"Once\",\"echo\":true}");
        assertThat(echoed.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(echoed.body()).at("/error/param").stringValue())
                .isEqualTo("echo");
        JsonNode tokens = answer("/v1/completions", "{'model':'foxes','prompt':[1,2,3],'max_tokens':2}");
        assertThat(tokens.at("/usage/prompt_tokens").intValue())
                .as("tokens stand as they are")
                .isEqualTo(3);
    }

    @Test
    void anEncoderHasASecondNameToo() {
        assertThat(post("/api/copy", "{\"source\":\"bert\",\"destination\":\"vectors\"}")
                        .statusCode())
                .isEqualTo(200);

        JsonNode embedded = answer("/api/embed", "{'model':'vectors','input':['a']}");
        assertThat(embedded.at("/embeddings/0").size()).isEqualTo(32);
        JsonNode listed = answer("/v1/embeddings", "{'model':'vectors','input':['a']}");
        assertThat(listed.at("/data/0/embedding").size()).isEqualTo(32);
        assertThat(answer("/pooling", "{'model':'vectors:latest','input':['a']}")
                        .at("/data")
                        .size())
                .isOne();
        var generated = post("/v1/completions", "{\"model\":\"vectors\",\"prompt\":\"a\"}");
        assertThat(generated.body()).contains("bert is an encoder");
        assertThat(send(to("/api/delete").method("DELETE", BodyPublishers.ofString("{\"model\":\"vectors\"}")))
                        .statusCode())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/models/load", "/v2/repository/models/foxes/load"})
    void isLoadedAsTheModelThatAnswers(String path) {
        server.close();
        server = open(Control.EXPLICIT);
        try {
            String chat = "{\"model\":\"foxes\",\"messages\":[" + ASKED.replace('\'', '"') + "]}";
            assertThat(post("/v1/chat/completions", chat).body()).contains("an operator loads it");

            String load = path.equals("/models/load") ? "{\"model\":\"foxes\"}" : "{}";
            assertThat(post(path, load).statusCode()).isEqualTo(200);

            assertThat(post("/v1/chat/completions", chat).statusCode()).isEqualTo(200);
            assertThat(get("/v1/models/demo").at("/state").stringValue()).isEqualTo("loaded");
        } finally {
            server.close();
            server = open(Control.POLL);
        }
    }
}
