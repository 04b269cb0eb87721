package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.EncoderServer;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Requests that schemathesis makes up from the server's document, right ones and wrong ones: no answer is a defect, wrong ones are
 * refused, and every answer is as the document says.
 */
@Tag("long")
final class MadeUpRequestsTest {
    private static final JsonMapper MAPPER = new JsonMapper();

    /** What operators ask, and those who look at models. */
    private static final List<String> OF_OPERATORS = List.of(
            "/health",
            "/ready",
            "/server_info",
            "/models",
            "/models/load",
            "/models/unload",
            "/v1/models",
            "/v1/models/{model}",
            "/v1/load_lora_adapter",
            "/v1/unload_lora_adapter",
            "/lora-adapters",
            "/is_sleeping",
            "/sleep",
            "/wake_up",
            "/props",
            "/slots",
            "/info",
            "/api/ps",
            "/api/tags",
            "/api/show",
            "/api/create",
            "/api/copy",
            "/api/delete",
            "/api/pull",
            "/api/push",
            "/api/blobs/{digest}",
            "/v2/health/ready",
            "/v2/models/{model}",
            "/v2/models/{model}/ready",
            "/v2/models/{model}/config",
            "/v2/models/{model}/stats",
            "/v2/repository/index",
            "/v2/repository/models/{model}/load",
            "/v2/repository/models/{model}/unload");

    @TempDir
    private static Path folder;

    @BeforeAll
    static void install() throws Exception {
        ClientPrograms.install();
    }

    @Test
    void theDocumentIsValid() throws Exception {
        try (var server = new ClientServer()) {
            String document = written("openapi.json", document(server.root())).toString();

            assertThat(ClientPrograms.run(300, ClientPrograms.python(), "-m", "openapi_spec_validator", document))
                    .contains("OK");
        }
    }

    @Test
    void aServerOfAModelAnswersThemAsItSays() throws Exception {
        try (var server = new ClientServer()) {
            answers(
                    server.root(),
                    List.of("demo"),
                    List.of("--exclude-path", "/sleep")); // behind which the others answer 503, as they should
        }
    }

    @ParameterizedTest
    @CsvSource({
        "bert, /v1/embeddings /pooling /v2/embed /embed /embed_all /embed_sparse /similarity /api/embed /api/embeddings",
        "bge-m3, /embed_sparse",
        "bert-cross, /score /rerank /v1/rerank /v2/rerank",
        "bert-labels, /classify /predict /pooling"
    })
    void aServerOfEncodersAnswersThemAsItSays(String model, String paths) throws Exception {
        try (var server = new EncoderServer("bert", "bert-cross", "bert-labels", "bge-m3")) {
            answers(server.root(), List.of(model), included(List.of(paths.split(" "))));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POLL", "EXPLICIT"})
    void aServerOfManyModelsAnswersThemAsItSays(Control control) throws Exception {
        Path demo = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        Path models = Files.createDirectories(folder.resolve(control.name()));
        Files.copy(demo, models.resolve("demo.gguf"));
        var repository = new ModelRepository(
                models,
                control,
                Duration.ofHours(1),
                path -> PooledModel.of(path.getFileName().toString().replace(".gguf", ""), EngineConfig.of(path)),
                Optional.empty());
        var given = List.of(PooledModel.of("bert", EngineConfig.of(EncoderServer.model("bert"))));
        try (var server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(given, 0, PoolOptions.PATIENCE, Optional.of(repository)))) {
            answers(server.uri().toString(), List.of("demo", "bert"), included(OF_OPERATORS));
        }
    }

    private static List<String> included(List<String> paths) {
        return paths.stream().flatMap(path -> Stream.of("--include-path", path)).toList();
    }

    private static void answers(String root, List<String> models, List<String> operations) throws Exception {
        String document =
                written("fuzzed.json", forFuzzing(document(root), models)).toString();
        written(
                "schemathesis.toml",
                "[checks.not_a_server_error]\nexpected-statuses = [\"2xx\", \"3xx\", \"4xx\", 503]\n");
        List<String> command = new ArrayList<>(List.of(
                "sh",
                "-c",
                "cd \"$0\" && exec venv/bin/schemathesis \"$@\"", // it leaves folders where it runs
                ClientPrograms.FOLDER.toString(),
                "run",
                document,
                "--url",
                root));
        command.addAll(operations);
        command.addAll(List.of(
                "--phases",
                "coverage,fuzzing",
                "--exclude-checks",
                "positive_data_acceptance", // fields that exclude each other are refused, though each is right
                "--max-time",
                "45",
                "--request-timeout",
                "180", // an answer may fill the context, on a machine that does other things, too
                "--seed",
                "7",
                "--continue-on-failure",
                "--no-color"));

        assertThat(ClientPrograms.run(600, command.toArray(String[]::new))).contains("Seed: 7");
    }

    private static String document(String root) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(root + "/openapi.json"));
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    private static Path written(String name, String document) throws IOException {
        return Files.writeString(ClientPrograms.FOLDER.resolve(name), document);
    }

    /** Without limits of thousands of elements, whose edges are bodies of megabytes; models have names that there are, and one that is not. */
    private static String forFuzzing(String document, List<String> models) {
        ObjectNode read = MAPPER.readTree(document.replaceAll(",?\"max(Items|Properties)\":\\d{3,}", ""))
                .asObject();
        List<String> names = new ArrayList<>(models);
        names.add("other");
        List<@Nullable String> nullable = new ArrayList<>(names);
        nullable.add(null);
        read.at("/components/schemas").forEach(schema -> {
            if (schema.at("/properties/model") instanceof ObjectNode model && !model.has("enum")) {
                boolean mayBeNull =
                        model.has("$ref") || model.path("type").toString().contains("null");
                model.removeAll().set("enum", MAPPER.valueToTree(mayBeNull ? nullable : names));
            }
        });
        read.findValues("parameters")
                .forEach(parameters -> parameters.forEach(parameter -> {
                    if (parameter.path("name").asString("").equals("model")
                            && parameter.path("schema") instanceof ObjectNode schema) {
                        schema.removeAll().set("enum", MAPPER.valueToTree(names));
                    }
                }));
        return read.toString();
    }
}
