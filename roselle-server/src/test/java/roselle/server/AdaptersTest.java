package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationRequest;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.server.config.AccessOptions;
import roselle.server.config.AdapterOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;
import roselle.server.config.ServerConfig;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/** Adapters over HTTP: loaded from one folder by operators, asked for as models, by every API. */
final class AdaptersTest {
    private static final String OPERATOR = ApiKey.random();
    private static final String USER = ApiKey.random();
    private static final String TARGET = "blk.0.ffn_down";

    @TempDir
    private static Path outside;

    private static Path folder;
    private static DemoServer demo;

    @BeforeAll
    static void start() throws IOException {
        folder = Files.createDirectory(outside.resolve("adapters"));
        byte[] adapter = adapter();
        Files.write(folder.resolve("tiny.gguf"), adapter);
        Files.write(folder.resolve("torn.gguf"), Arrays.copyOf(adapter, adapter.length - 64));
        Files.write(outside.resolve("secret.gguf"), adapter);
        Files.createSymbolicLink(folder.resolve("link.gguf"), outside.resolve("secret.gguf"));
        Files.createDirectory(folder.resolve("linking"));
        Files.createSymbolicLink(folder.resolve("linking/adapter_model.safetensors"), outside.resolve("secret.gguf"));
        demo = new DemoServer(ServerConfig.DEFAULT
                .with(new AdapterOptions(Optional.of(folder)))
                .with(AccessOptions.DEFAULT.withKeys(List.of(
                        new ApiKey("operator", ApiKey.sha256(OPERATOR), KeyLimits.DEFAULT, new KeyRights("", true)),
                        new ApiKey("user", ApiKey.sha256(USER), KeyLimits.DEFAULT)))));
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @AfterEach
    void unload() {
        demo.engine().adapters().forEach(adapter -> demo.engine().unloadAdapter(adapter.name()));
    }

    /** One pair of the demo model, large enough to change what it says. */
    static byte[] adapter() {
        try (Checkpoint model = Checkpoints.open(DemoServer.demo())) {
            Shape shape = model.tensor(TARGET + ".weight").shape();
            Shape shrink = Shape.of(2, shape.columns());
            Shape expand = Shape.of(shape.rows(), 2);
            var header = new GgufHeaderWriter()
                    .put("general.architecture", model.config().string("general.architecture"))
                    .put("general.type", "adapter")
                    .put("adapter.type", "lora")
                    .put("adapter.lora.alpha", 64f);
            header.tensor(TARGET + ".weight.lora_a", DataType.F32, shrink);
            long offset = header.tensor(TARGET + ".weight.lora_b", DataType.F32, expand);
            byte[] begin = header.toBytes();
            long end = GgufHeaderWriter.padded(offset + expand.elements() * Float.BYTES);
            var bytes = ByteBuffer.allocate(begin.length + (int) end).order(ByteOrder.LITTLE_ENDIAN);
            bytes.put(begin);
            putRandom(bytes, shrink);
            bytes.position(begin.length + (int) offset);
            putRandom(bytes, expand);
            return bytes.array();
        }
    }

    private static void putRandom(ByteBuffer bytes, Shape shape) {
        var random = new Random(20_261_123L);
        for (long i = 0; i < shape.elements(); i++) {
            bytes.putFloat((float) random.nextGaussian());
        }
    }

    private static HttpResponse<String> post(String path, String key, String body) {
        return demo.send(demo.request(path, body)
                .header("authorization", "Bearer " + key)
                .build());
    }

    private static HttpResponse<String> load(String name, String path) {
        return post(
                "/v1/load_lora_adapter", OPERATOR, "{\"lora_name\":\"" + name + "\",\"lora_path\":\"" + path + "\"}");
    }

    private static String completion(String model) {
        var answer = post(
                "/v1/completions",
                USER,
                "{\"model\":\"" + model + "\",\"prompt\":\"Once upon a time\",\"max_tokens\":12,\"temperature\":0}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(DemoServer.json(answer.body()).at("/model").asString()).isEqualTo(model);
        return DemoServer.json(answer.body()).at("/choices/0/text").asString();
    }

    private static HttpResponse<String> get(String path) {
        return demo.send(HttpRequest.newBuilder(demo.at(path))
                .header("authorization", "Bearer " + OPERATOR)
                .build());
    }

    @Test
    void answersWithAnAdapterAsItsModelUntilItIsUnloaded() {
        String base = completion("demo");
        var loaded = load("tiny", "tiny.gguf");
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(loaded.body()).isEqualTo("Success: LoRA adapter 'tiny' added successfully.");

        String adapted = completion("tiny");
        assertThat(adapted).isNotEqualTo(base);
        assertThat(completion("demo")).isEqualTo(base);
        assertThat(completion("tiny")).isEqualTo(adapted);
        var models = DemoServer.json(get("/v1/models").body());
        assertThat(models.at("/data/0/parent").isNull()).isTrue();
        assertThat(models.at("/data/1/id").asString()).isEqualTo("tiny");
        assertThat(models.at("/data/1/parent").asString()).isEqualTo("demo");
        assertThat(models.at("/data/1/root").asString()).isEqualTo("demo");

        var unloaded = post("/v1/unload_lora_adapter", OPERATOR, "{\"lora_name\":\"tiny\"}");
        assertThat(unloaded.statusCode()).isEqualTo(200);
        var gone = post("/v1/completions", USER, "{\"model\":\"tiny\",\"prompt\":\"a\"}");
        assertThat(gone.statusCode()).isEqualTo(404);
        assertThat(gone.body()).contains("there is no model tiny: this server has demo");
        assertThat(completion("demo")).isEqualTo(base);
    }

    @Test
    void answersByOtherApisToo() {
        load("tiny", "tiny.gguf");
        String body = "{\"model\":\"tiny\",\"stream\":false,\"options\":{\"num_predict\":4,\"temperature\":0},"
                + "\"prompt\":\"Once upon a time\",\"raw\":true}";
        var answer = post("/api/generate", USER, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        String expected = completion("tiny");
        assertThat(expected)
                .startsWith(DemoServer.json(answer.body()).at("/response").asString());
        var vectors = post("/v1/embeddings", USER, "{\"model\":\"tiny\",\"input\":\"the fox\"}");
        var others = post("/v1/embeddings", USER, "{\"model\":\"demo\",\"input\":\"the fox\"}");
        assertThat(DemoServer.json(vectors.body()).at("/data/0/embedding"))
                .isNotEqualTo(DemoServer.json(others.body()).at("/data/0/embedding"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"../secret.gguf", "link.gguf", "linking", "nothing.gguf", "/etc/passwd", "a\\u0000b", ".."})
    void loadsNothingFromElsewhere(String path) {
        var answer = load("x", path);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("in the folder of adapters").doesNotContain(folder.toString());
        assertThat(demo.engine().adapters()).isEmpty();
    }

    @Test
    void saysWhatIsWrongWithAnAdapterAndGoesOn() {
        var torn = load("x", "torn.gguf");
        assertThat(torn.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(torn.body()).at("/error/param").asString()).isEqualTo("lora_path");
        assertThat(load("demo", "tiny.gguf").body()).contains("lora_name is the name of a model");
        assertThat(post("/v1/unload_lora_adapter", OPERATOR, "{\"lora_name\":\"x\"}")
                        .statusCode())
                .isEqualTo(400);
        assertThat(post(
                                "/v1/load_lora_adapter",
                                OPERATOR,
                                "{\"lora_name\":\"x\",\"lora_path\":\"tiny.gguf\",\"load_inplace\":true}")
                        .statusCode())
                .isEqualTo(400);
        assertThat(completion("demo")).isNotEmpty();
    }

    @Test
    void isForOperators() {
        String body = "{\"lora_name\":\"tiny\",\"lora_path\":\"tiny.gguf\"}";
        assertThat(post("/v1/load_lora_adapter", USER, body).statusCode()).isEqualTo(403);
        assertThat(post("/v1/unload_lora_adapter", USER, body).statusCode()).isEqualTo(403);
        assertThat(demo.engine().adapters()).isEmpty();
    }

    @Test
    void tellsGatewaysWhichAdaptersAreAtWork() {
        load("tiny", "tiny.gguf");
        var request = GenerationRequest.builder()
                .text("Once upon a time")
                .maxTokens(400)
                .ignoreEos(true)
                .adapter("tiny")
                .build();
        try (var generation = demo.engine().submit(request)) {
            generation.next();
            assertThat(get("/metrics").body())
                    .contains(
                            "\nroselle_lora_requests_info{max_lora=\"64\",model=\"demo\",running_lora_adapters=\"tiny\","
                                    + "waiting_lora_adapters=\"\"} ");
        }
        DemoServer.await(() -> demo.engine().adaptersInUse(true).isEmpty());
        assertThat(get("/metrics").body())
                .contains("running_lora_adapters=\"\"")
                .doesNotContain("adapters=\"tiny\"");
    }
}
