package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;
import roselle.server.config.ListenOptions;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Three models, one that is none, and an encoder, in memory for two models. */
final class PoolServerTest {
    private static final String OPERATOR = "operators-key";
    private static final String PLAIN = "somebodys-key";
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    @TempDir
    private static Path folder;

    private static Path file;
    private static Server server;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws IOException {
        file = Files.copy(DemoServer.demo(), folder.resolve("pooled.gguf"));
        Path broken = Files.writeString(folder.resolve("broken.gguf"), "this is no model");
        long bytes = Engine.plan(config(file)).totalBytes();
        var models = List.of(
                new PooledModel("a", List.of("first"), config(file), false, PooledModel.WHILE_THERE_IS_ROOM),
                PooledModel.of("b", config(file)),
                PooledModel.of("c", config(file)),
                PooledModel.of("broken", config(broken)),
                PooledModel.of("bert", EngineConfig.of(EncoderServer.MODELS.resolve("bert"))));
        var access = AccessOptions.DEFAULT.withKeys(List.of(
                new ApiKey("operator", ApiKey.sha256(OPERATOR), KeyLimits.DEFAULT, new KeyRights("", true)),
                new ApiKey("plain", ApiKey.sha256(PLAIN), KeyLimits.DEFAULT, KeyRights.DEFAULT)));
        server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)).with(access),
                new PoolOptions(models, 2 * bytes + bytes / 2, Duration.ofMinutes(2)));
    }

    private static EngineConfig config(Path model) {
        return EngineConfig.of(model).with(new BatchOptions(256, 4, 64, 0, 16));
    }

    @AfterAll
    static void stop() {
        server.close();
        CLIENT.close();
    }

    @BeforeEach
    void unloadAll() {
        for (String name : List.of("a", "b", "c", "bert")) {
            assertThat(post("/models/unload", "{\"model\":\"" + name + "\"}").statusCode())
                    .isEqualTo(200);
        }
        DemoServer.await(() ->
                states().values().stream().noneMatch(state -> state.equals("loaded") || state.equals("unloading")));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String key) {
        try {
            return CLIENT.send(request.header("authorization", "Bearer " + key).build(), BodyHandlers.ofString());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    private static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(at(path)).header("content-type", "application/json");
    }

    private static URI at(String path) {
        return server.uri().resolve(path);
    }

    private static HttpResponse<String> post(String path, String body) {
        return send(to(path).POST(BodyPublishers.ofString(body)), OPERATOR);
    }

    private static JsonNode get(String path) {
        return DemoServer.json(send(to(path), OPERATOR).body());
    }

    private static HttpResponse<String> complete(String model) {
        return post("/v1/completions", "{\"model\":\"" + model + "\",\"prompt\":\"a\",\"max_tokens\":2}");
    }

    private static Map<String, String> states() {
        var states = new TreeMap<String, String>();
        get("/models")
                .path("models")
                .values()
                .forEach(model -> states.put(
                        model.path("name").stringValue(), model.path("state").stringValue()));
        return states;
    }

    @Test
    void loadsWhatIsAskedForAndMakesRoomForIt() {
        for (String model : List.of("a", "b", "c")) {
            assertThat(complete(model).statusCode()).as(model).isEqualTo(200);
        }

        assertThat(states()).containsEntry("c", "loaded");
        assertThat(states().values().stream().filter("loaded"::equals).count()).isEqualTo(2);
        JsonNode memory = get("/models").path("memory");
        assertThat(memory.path("used_bytes").longValue())
                .isPositive()
                .isLessThanOrEqualTo(memory.path("budget_bytes").longValue());
    }

    @Test
    void answersByAnAliasUnderTheModelsName() {
        JsonNode answer = DemoServer.json(complete("first").body());

        assertThat(answer.path("model").stringValue()).isEqualTo("a");
        assertThat(states()).containsEntry("a", "loaded");
    }

    @Test
    void hasRequestsForOneModelWaitForOneLoad() {
        double loads = metric("roselle_models_loads_total");
        var answers = java.util.stream.IntStream.range(0, 6)
                .mapToObj(_ -> CompletableFuture.supplyAsync(() -> complete("b").statusCode()))
                .toList();

        assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(200));
        assertThat(metric("roselle_models_loads_total")).isEqualTo(loads + 1);
    }

    private static double metric(String name) {
        return send(to("/metrics"), OPERATOR)
                .body()
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void servesTheOthersWhereOneCannotBeLoaded() {
        var refused = complete("broken");

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(DemoServer.json(refused.body()).at("/error/message").stringValue())
                .contains("the model broken could not be loaded")
                .doesNotContain(folder.toString());
        assertThat(states()).containsEntry("broken", "failed");
        assertThat(complete("a").statusCode()).isEqualTo(200);
        assertThat(send(to("/ready"), OPERATOR).statusCode()).isEqualTo(200);
        for (String path : List.of("/health", "/ready")) {
            JsonNode failed = get(path).path("failed");
            assertThat(failed.size()).as(path).isOne();
            assertThat(failed.at("/0/name").stringValue()).isEqualTo("broken");
            assertThat(failed.at("/0/failure").stringValue())
                    .contains("the model broken could not be loaded")
                    .doesNotContain(folder.toString());
        }
    }

    @Test
    void knowsNoOtherModels() {
        var refused = complete("other");

        assertThat(refused.statusCode()).isEqualTo(404);
        assertThat(refused.body()).contains("this server has a, b, c, broken, bert");
    }

    @Test
    void returnsAllThatAModelTook() throws IOException {
        long threads = engineThreads();
        complete("a");
        assertThat(engineThreads()).isGreaterThan(threads);

        post("/models/unload", "{\"model\":\"a\"}");
        DemoServer.await(() -> "unloaded".equals(states().get("a")));

        assertThat(engineThreads()).isEqualTo(threads);
        assertThat(get("/models").at("/memory/used_bytes").longValue()).isZero();
        assertThat(bytes("a")).as("nothing is loaded").isZero();
        if (Files.exists(MAPPINGS)) {
            assertThat(Files.readAllLines(MAPPINGS)).noneMatch(line -> line.contains(file.toString()));
        }
        assertThat(metric("roselle_engine_up")).isZero();
    }

    private static long bytes(String name) {
        return get("/models").path("models").values().stream()
                .filter(model -> model.path("name").stringValue().equals(name))
                .mapToLong(model -> model.path("bytes").longValue())
                .sum();
    }

    private static long engineThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("roselle-engine"))
                .count();
    }

    @Test
    void listsAllModelsAndWhichAreLoaded() {
        complete("b");

        JsonNode list = get("/v1/models").path("data");
        assertThat(StreamSupport.stream(list.spliterator(), false)
                        .map(model -> model.path("id").stringValue()))
                .containsExactly("a", "b", "c", "broken", "bert");
        assertThat(get("/v1/models/b").path("state").stringValue()).isEqualTo("loaded");
        assertThat(get("/v1/models/b").path("max_model_len").intValue()).isEqualTo(256);
        assertThat(get("/v1/models/a").path("state").stringValue()).isEqualTo("unloaded");
        assertThat(names(get("/api/tags")))
                .containsExactly("a:latest", "b:latest", "c:latest", "broken:latest", "bert:latest");
        assertThat(names(get("/api/ps"))).containsExactly("b:latest");
        assertThat(get("/api/tags").at("/models/0/details/family").stringValue())
                .as("not loaded")
                .isEqualTo("llama");
        assertThat(get("/api/tags").at("/models/0/size").longValue()).isPositive();
        assertThat(get("/api/tags").at("/models/3/details/family").stringValue())
                .as("no model")
                .isEmpty();
    }

    private static List<String> names(JsonNode list) {
        return list.path("models").values().stream()
                .map(model -> model.path("name").stringValue())
                .toList();
    }

    @Test
    void keepsAModelAsOllamasClientsSay() {
        var loaded = post("/api/generate", "{\"model\":\"a\",\"keep_alive\":\"10m\",\"stream\":false}");
        assertThat(DemoServer.json(loaded.body()).path("done_reason").stringValue())
                .isEqualTo("load");
        assertThat(get("/api/ps").at("/models/0/expires_at").stringValue()).doesNotStartWith("9999");
        assertThat(seconds("a")).hasValueSatisfying(left -> assertThat(left).isBetween(1L, 600L));

        var unloaded = post("/api/generate", "{\"model\":\"a\",\"prompt\":\"\",\"keep_alive\":0,\"stream\":false}");
        assertThat(DemoServer.json(unloaded.body()).path("done_reason").stringValue())
                .isEqualTo("unload");
        DemoServer.await(() -> "unloaded".equals(states().get("a")));
    }

    private static Optional<Long> seconds(String name) {
        return get("/models").path("models").values().stream()
                .filter(model -> model.path("name").stringValue().equals(name))
                .map(model -> model.path("unloads_after_seconds").longValue())
                .findFirst();
    }

    @Test
    void loadsAndUnloadsAsTritonsClientsSay() {
        assertThat(send(to("/v2/models/c/ready"), OPERATOR).statusCode()).isEqualTo(503);
        assertThat(post("/v2/repository/models/c/load", "{}").statusCode()).isEqualTo(200);
        assertThat(send(to("/v2/models/c/ready"), OPERATOR).statusCode()).isEqualTo(200);
        assertThat(post("/v2/repository/index", "{\"ready\":true}").body())
                .contains("\"c\"")
                .doesNotContain("\"a\"");

        var unloaded = post("/v2/repository/models/c/unload", "{\"parameters\":{\"unload_dependents\":false}}");

        assertThat(unloaded.statusCode()).isEqualTo(200);
        DemoServer.await(() -> "unloaded".equals(states().get("c")));
    }

    @Test
    void loadsEncodersBesideModelsThatGenerate() {
        assertThat(complete("a").statusCode()).isEqualTo(200);
        JsonNode vectors = DemoServer.json(post("/v1/embeddings", "{\"model\":\"bert\",\"input\":[\"a\",\"b\"]}")
                .body());

        assertThat(vectors.path("data").size()).isEqualTo(2);
        assertThat(vectors.at("/data/0/embedding").size()).isEqualTo(32);
        assertThat(states()).containsEntry("a", "loaded").containsEntry("bert", "loaded");
        assertThat(metric("roselle_encoder_texts_total")).isEqualTo(2);
        assertThat(get("/v1/models/bert").path("max_model_len").intValue()).isPositive();

        post("/models/unload", "{\"model\":\"bert\"}");
        DemoServer.await(() -> "unloaded".equals(states().get("bert")));

        assertThat(metric("roselle_encoder_texts_total")).isZero();
        assertThat(complete("a").statusCode()).isEqualTo(200);
    }

    @Test
    void tellsOfWhatKindAModelIs() {
        var generating = complete("bert");
        var ranking = post("/v1/rerank", "{\"model\":\"b\",\"query\":\"a\",\"documents\":[\"b\"]}");

        assertThat(generating.statusCode()).isEqualTo(400);
        assertThat(generating.body()).contains("bert is an encoder");
        assertThat(ranking.statusCode()).isEqualTo(400);
        assertThat(ranking.body()).contains("b generates and is no encoder");
    }

    @Test
    void keepsAnEncoderAsOllamasClientsSay() {
        var vectors = post("/api/embed", "{\"model\":\"bert\",\"input\":\"a\",\"keep_alive\":0}");

        assertThat(vectors.statusCode()).isEqualTo(200);
        DemoServer.await(() -> "unloaded".equals(states().get("bert")));
    }

    @Test
    void letsOperatorsAloneLoadAndUnload() {
        for (String path : List.of(
                "/models/load", "/models/unload", "/v2/repository/models/a/load", "/v2/repository/models/a/unload")) {
            var refused = send(to(path).POST(BodyPublishers.ofString("{}")), PLAIN);
            assertThat(refused.statusCode()).as(path).isEqualTo(403);
        }
        assertThat(send(to("/models"), PLAIN).statusCode()).isEqualTo(403);

        assertThat(complete("a").statusCode()).isEqualTo(200);
        for (String body : List.of(
                "{\"model\":\"a\",\"keep_alive\":0}",
                "{\"model\":\"a\",\"prompt\":\"b\",\"keep_alive\":0,\"options\":{\"num_predict\":1}}")) {
            var refused = send(to("/api/generate").POST(BodyPublishers.ofString(body)), PLAIN);
            assertThat(refused.statusCode()).as(body).isEqualTo(403);
        }
        String embed = "{\"model\":\"bert\",\"input\":\"a\",\"keep_alive\":0}";
        assertThat(send(to("/api/embed").POST(BodyPublishers.ofString(embed)), PLAIN)
                        .statusCode())
                .isEqualTo(403);
        assertThat(states()).containsEntry("a", "loaded");
    }

    @ParameterizedTest
    @EnumSource(Control.class)
    void loadsWhatIsPinnedOfAFolder(Control control, @TempDir Path folder) throws Exception {
        Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        var repository = new ModelRepository(
                folder,
                control,
                Duration.ofHours(1),
                path -> new PooledModel("demo", List.of(), config(path), true, PooledModel.WHILE_THERE_IS_ROOM),
                Optional.empty());
        var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
        var pool = new PoolOptions(List.of(), 0, PoolOptions.PATIENCE, Optional.of(repository));
        try (var pinning = Server.start(config, pool)) {
            var request = HttpRequest.newBuilder(pinning.uri().resolve("/models"));
            DemoServer.await(() -> DemoServer.json(send(request, "none").body())
                    .at("/models/0/state")
                    .asString("")
                    .equals("loaded"));
        }
    }

    @Test
    void tellsOfWhatIsNotLoadedThatItIsNot() {
        var refused = send(to("/server_info?model=a"), OPERATOR);

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("the model a is not loaded");
    }

    @Test
    void noModelSleepsWhereAnEncoderBesideItCannot() {
        assertThat(get("/is_sleeping").at("/is_sleeping").booleanValue())
                .as("nothing is loaded")
                .isFalse();
        assertThat(complete("a").statusCode()).isEqualTo(200);
        assertThat(post("/v1/embeddings", "{\"model\":\"bert\",\"input\":\"a\"}")
                        .statusCode())
                .isEqualTo(200);

        assertThat(post("/sleep", "").body()).contains("bert is one: level 2 unloads it");
        assertThat(get("/is_sleeping?model=a").at("/is_sleeping").booleanValue())
                .isFalse();
        assertThat(post("/sleep?model=a", "").statusCode()).isEqualTo(200);
        assertThat(get("/is_sleeping?model=a").at("/is_sleeping").booleanValue())
                .isTrue();
        assertThat(post("/wake_up", "").statusCode()).isEqualTo(200);
    }
}
