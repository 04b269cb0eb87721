package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
import roselle.server.config.ModelSupply;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Models that are made of others by Ollama's API: in a folder that may change while it is served. */
final class OllamaCreateTest {
    private static final BlockingQueue<String> BEGUN = new LinkedBlockingQueue<>(); // names of models that never end
    private static final BlockingQueue<Throwable> ENDINGS = new LinkedBlockingQueue<>(); // of fetching them
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    private static Path folder;

    private static Server server;

    @BeforeAll
    static void start() throws Exception {
        Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        server = open(folder);
    }

    private static Server open(Path folder) {
        var repository = new ModelRepository(
                folder,
                Control.POLL,
                Duration.ofHours(1),
                path -> PooledModel.of(
                        path.getFileName().toString().replace(".gguf", ""),
                        EngineConfig.of(path).with(new BatchOptions(256, 4, 64, 0, 16))),
                Optional.of(OllamaCreateTest::fetch));
        return Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(List.of(), 0, PoolOptions.PATIENCE, Optional.of(repository)));
    }

    /** A hub that has one model. */
    private static Path fetch(String name, Consumer<ModelSupply.Progress> hearing) {
        if (name.equals("org/endless")) {
            BEGUN.add(name);
            return endless(hearing);
        }
        if (!name.equals("org/hunters:Q8_0")) {
            throw new ModelSupply.Unavailable("there is no " + name + " on the hub", new IllegalStateException());
        }
        hearing.accept(new ModelSupply.Progress(100, 40));
        return DemoServer.demo();
    }

    /** A file that never ends; it tells how its fetching did. */
    private static Path endless(Consumer<ModelSupply.Progress> hearing) {
        try {
            for (long received = 1; ; received++) {
                hearing.accept(new ModelSupply.Progress(Long.MAX_VALUE, received));
                Thread.onSpinWait();
            }
        } catch (RuntimeException ending) {
            ENDINGS.add(ending);
            throw ending;
        }
    }

    @AfterAll
    static void stop() {
        server.close();
        CLIENT.close();
    }

    /** As it is after a disk that was full, or a hand that slipped. */
    @Test
    void aFileOfMadeModelsThatIsDamagedKeepsNoOtherModelAway(@TempDir Path other) throws Exception {
        Path damaged = other.resolve(".created-models.json");
        Files.copy(DemoServer.demo(), other.resolve("demo.gguf"));
        for (String text : List.of("[{\"name\":", "[{\"name\":\"x\",\"created\":\"soon\"}]", "[7]")) {
            Files.writeString(damaged, text);
            try (Server started = open(other)) {
                var tags = HttpRequest.newBuilder(URI.create(started.uri() + "/api/tags"))
                        .build();
                assertThat(CLIENT.send(tags, BodyHandlers.ofString()).body())
                        .as(text)
                        .contains("demo:latest")
                        .doesNotContain("\"x");
            }
            assertThat(other.resolve(".created-models.json.damaged")).hasContent(text);
            assertThat(damaged).doesNotExist();
        }
    }

    private static HttpResponse<String> send(String method, String path, HttpRequest.BodyPublisher body) {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path))
                .method(method, body)
                .build();
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static HttpResponse<String> post(String path, String body) {
        return send("POST", path, BodyPublishers.ofString(body));
    }

    private static JsonNode chat(String model, String rest) {
        var answer = post("/api/chat", "{\"model\":\"" + model + "\",\"stream\":false," + rest + "}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return DemoServer.json(answer.body());
    }

    private static String turns(String... more) {
        return "\"messages\":[" + String.join("", more) + "{\"role\":\"user\",\"content\":\"Tell me a story.\"}]";
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPullEndsWhenWhoeverWantedItHasGone(boolean streams) throws Exception {
        String body = "{\"model\":\"hf.co/org/endless\",\"stream\":" + streams + "}";
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                    .write(("POST /api/pull HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " + body.length()
                                    + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(BEGUN.poll(60, TimeUnit.SECONDS)).isEqualTo("org/endless");
        }

        assertThat(ENDINGS.poll(60, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(post("/api/show", "{\"model\":\"hf.co/org/endless\"}").statusCode())
                .isEqualTo(404);
    }

    @Test
    void aModelOfTheHubIsFetchedIntoTheFolder() {
        String pull = "{\"model\":\"hf.co/org/hunters:Q8_0\"}";
        List<JsonNode> told =
                post("/api/pull", pull).body().lines().map(DemoServer::json).toList();

        assertThat(told.getFirst().at("/status").stringValue()).isEqualTo("pulling manifest");
        assertThat(told.getLast().at("/status").stringValue()).isEqualTo("success");
        JsonNode whole = told.get(told.size() - 4);
        assertThat(whole.at("/total").intValue()).isEqualTo(100);
        assertThat(whole.at("/completed").intValue()).isEqualTo(100);
        assertThat(whole.at("/digest").stringValue()).matches("sha256:[0-9a-f]{64}");
        assertThat(chat("hf.co/org/hunters:Q8_0", turns() + ",\"options\":{\"num_predict\":2}")
                        .at("/eval_count")
                        .intValue())
                .isEqualTo(2);
        assertThat(post("/api/pull", pull.replace("}", ",\"stream\":false}")).body())
                .isEqualTo("{\"status\":\"success\"}");

        var removed = send("DELETE", "/api/delete", BodyPublishers.ofString(pull));
        assertThat(removed.statusCode()).as(removed.body()).isEqualTo(200);
        assertThat(folder.resolve("org-hunters-Q8_0.gguf")).doesNotExist();
        assertThat(DemoServer.demo()).exists();
    }

    @ParameterizedTest
    @CsvSource({
        "hf.co/org/none, 404, there is no org/none on the hub",
        "llama3.2, 400, write hf.co/org/name",
        "org/../x, 400, write hf.co/org/name"
    })
    void whatTheHubDoesNotHaveIsSaid(String name, int status, String said) {
        var refused = post("/api/pull", "{\"model\":\"" + name + "\",\"stream\":false}");
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(status);
        assertThat(refused.body()).contains(said);
        var streamed = post("/api/pull", "{\"model\":\"" + name + "\"}");
        assertThat(streamed.body().lines().toList().getLast()).contains("error", said);
    }

    @Test
    void aModelMadeOfAnotherIsThatOneAskedInAnotherWay() {
        String made = "{\"model\":\"foxes\",\"from\":\"demo\",\"system\":\"Be short.\",\"parameters\":"
                + "{\"temperature\":0,\"num_predict\":6,\"stop\":\"@\"},\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
                + "{\"role\":\"assistant\",\"content\":\"Hello\"}],\"license\":\"mine\"}";
        assertThat(post("/api/create", made).body().lines().toList())
                .containsExactly(
                        "{\"status\":\"reading model metadata\"}",
                        "{\"status\":\"writing manifest\"}",
                        "{\"status\":\"success\"}");

        JsonNode told = chat("foxes", turns());
        String system = "{\"role\":\"system\",\"content\":\"Be short.\"},";
        String before = "{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"Hello\"},";
        JsonNode plain = chat("demo", turns(system, before) + ",\"options\":{\"temperature\":0,\"num_predict\":6}");
        assertThat(told.at("/message/content")).isEqualTo(plain.at("/message/content"));
        assertThat(told.at("/prompt_eval_count")).isEqualTo(plain.at("/prompt_eval_count"));
        assertThat(told.at("/model").stringValue()).isEqualTo("foxes");
        assertThat(chat("foxes:latest", turns() + ",\"options\":{\"num_predict\":2}")
                        .at("/eval_count")
                        .intValue())
                .isEqualTo(2);
        String generate = "{\"model\":\"foxes\",\"prompt\":\"Tell me a story.\",\"stream\":false}";
        assertThat(DemoServer.json(post("/api/generate", generate).body()).at("/response"))
                .as("a prompt is the next turn")
                .isEqualTo(plain.at("/message/content"));

        JsonNode shown =
                DemoServer.json(post("/api/show", "{\"model\":\"foxes\"}").body());
        assertThat(shown.at("/system").stringValue()).isEqualTo("Be short.");
        assertThat(shown.at("/license").stringValue()).isEqualTo("mine");
        assertThat(shown.at("/modelfile").stringValue())
                .contains("FROM demo\n", "PARAMETER num_predict 6\n", "MESSAGE assistant Hello\n");

        assertThat(post("/api/copy", "{\"source\":\"foxes\",\"destination\":\"team/vixens:v2\"}")
                        .statusCode())
                .isEqualTo(200);
        post("/api/create", "{\"model\":\"terse\",\"from\":\"foxes\",\"parameters\":{\"num_predict\":1}}");
        assertThat(chat("terse", turns()).at("/eval_count").intValue())
                .as("on top of foxes")
                .isEqualTo(1);
        server.close();
        server = open(folder);
        assertThat(send("GET", "/api/tags", BodyPublishers.noBody()).body())
                .as("kept over a restart")
                .contains("\"foxes:latest\"", "\"team/vixens:v2\"");
        for (String name : List.of("foxes", "team/vixens:v2", "terse")) {
            assertThat(send("DELETE", "/api/delete", BodyPublishers.ofString("{\"model\":\"" + name + "\"}"))
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThat(send("GET", "/api/tags", BodyPublishers.noBody()).body()).doesNotContain("foxes", "vixens");
    }

    private static String upload(byte[] file) throws Exception {
        String digest = "sha256:"
                + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
        assertThat(send("POST", "/api/blobs/" + digest, BodyPublishers.ofByteArray(file))
                        .statusCode())
                .isEqualTo(201);
        return digest;
    }

    @Test
    void anUploadedAdapterAdaptsTheModelAndNoOther() throws Exception {
        byte[] adapter = AdaptersTest.adapter();
        String digest = upload(adapter);
        String create = "{\"model\":\"adapted\",\"from\":\"demo\",\"adapters\":{\"adapter.gguf\":\"" + digest
                + "\"},\"stream\":false}";
        assertThat(post("/api/create", create).body()).isEqualTo("{\"status\":\"success\"}");

        String asked = turns() + ",\"options\":{\"temperature\":0,\"num_predict\":8}";
        JsonNode plain = chat("demo", asked).at("/message/content");
        JsonNode adapted = chat("adapted", asked).at("/message/content");
        assertThat(adapted).isNotEqualTo(plain);
        assertThat(chat("demo", asked).at("/message/content")).isEqualTo(plain);
        post("/api/create", "{\"model\":\"further\",\"from\":\"adapted\"}");
        server.close();
        server = open(folder);
        assertThat(chat("further", asked).at("/message/content"))
                .as("of a model made of it, by a server that begins")
                .isEqualTo(adapted);
        assertThat(DemoServer.json(post("/api/show", "{\"model\":\"adapted\"}").body())
                        .at("/modelfile")
                        .stringValue())
                .contains("ADAPTER sha256-");

        String torn = upload(Arrays.copyOf(adapter, adapter.length - 64));
        assertThat(post("/api/create", create.replace(digest, torn)).body()).contains("the adapter cannot be used");
        assertThat(post("/api/create", create.replace(digest, "sha256:" + "0".repeat(64)))
                        .body())
                .contains("was not uploaded");
        delete("adapted");
        assertThat(blob(digest)).as("of which another is made").exists();
        delete("further");
        assertThat(blob(digest)).doesNotExist();
    }

    @Test
    void aModelIsMadeOfAFileThatWasUploaded() throws Exception {
        byte[] file = Files.readAllBytes(DemoServer.demo());
        String digest = "sha256:"
                + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
        assertThat(send("HEAD", "/api/blobs/" + digest, BodyPublishers.noBody()).statusCode())
                .isEqualTo(404);
        String create = "{\"model\":\"mine\",\"files\":{\"model.gguf\":\"" + digest + "\"},\"stream\":false}";
        assertThat(post("/api/create", create).body()).contains("was not uploaded");

        assertThat(send("POST", "/api/blobs/" + digest, BodyPublishers.ofByteArray(new byte[10]))
                        .body())
                .contains("digest is another");
        assertThat(send("POST", "/api/blobs/" + digest, BodyPublishers.ofByteArray(file))
                        .statusCode())
                .isEqualTo(201);
        assertThat(send("HEAD", "/api/blobs/" + digest, BodyPublishers.noBody()).statusCode())
                .isEqualTo(200);
        assertThat(post("/api/create", create).body()).isEqualTo("{\"status\":\"success\"}");

        assertThat(chat("mine", turns() + ",\"options\":{\"num_predict\":3}")
                        .at("/eval_count")
                        .intValue())
                .isEqualTo(3);
        assertThat(send("DELETE", "/api/delete", BodyPublishers.ofString("{\"model\":\"mine\"}"))
                        .statusCode())
                .isEqualTo(200);
        try (var left = Files.list(folder)) {
            assertThat(left.map(path -> path.getFileName().toString()).filter(name -> name.endsWith(".gguf")))
                    .containsExactly("demo.gguf");
        }
    }

    private static Path blob(String digest) {
        return folder.resolve(".blobs").resolve(digest.replace(':', '-'));
    }

    private static void delete(String model) {
        assertThat(send("DELETE", "/api/delete", BodyPublishers.ofString("{\"model\":\"" + model + "\"}"))
                        .statusCode())
                .isEqualTo(200);
    }

    private static String create(String model, String rest) {
        return post("/api/create", "{\"model\":\"" + model + "\",\"stream\":false," + rest + "}")
                .body();
    }

    private static String ofFile(String digest) {
        return "\"files\":{\"model.gguf\":\"" + digest + "\"}";
    }

    @Test
    void whatWasUploadedGoesWithTheLastModelThatIsMadeOfIt() throws Exception {
        String digest = upload(Files.readAllBytes(DemoServer.demo()));
        assertThat(create("first", ofFile(digest))).contains("success");
        post("/api/copy", "{\"source\":\"first\",\"destination\":\"second\"}");
        assertThat(create("first", "\"from\":\"first\",\"system\":\"Be short.\""))
                .contains("success");
        delete("first");

        assertThat(blob(digest)).exists();
        assertThat(chat("second", turns() + ",\"options\":{\"num_predict\":2}")
                        .at("/eval_count")
                        .intValue())
                .isEqualTo(2);
        delete("second");
        assertThat(blob(digest)).doesNotExist();
        assertThat(folder.resolve("first-latest.gguf")).doesNotExist();
    }

    @Test
    void whatSomebodyHasAskedForSinceStaysForAnotherModel() throws Exception {
        String digest = upload(Files.readAllBytes(DemoServer.demo()));
        assertThat(create("first", ofFile(digest))).contains("success");
        assertThat(send("HEAD", "/api/blobs/" + digest, BodyPublishers.noBody()).statusCode())
                .isEqualTo(200);
        delete("first");

        assertThat(create("second", ofFile(digest))).contains("success");
        delete("second");
        assertThat(blob(digest)).doesNotExist();
    }

    /** Its time is over when an hour has passed; a server that begins knows nobody who has asked. */
    @Test
    void whatBecameNoModelGoesWhenItsTimeIsOver() throws Exception {
        String torn = upload("no model".getBytes(StandardCharsets.UTF_8));
        String young = upload("a model to be".getBytes(StandardCharsets.UTF_8));
        assertThat(create("torn", ofFile(torn))).contains("error");
        assertThat(create("torn", ofFile(young) + ",\"colour\":1")).contains("colour");
        Path part = Files.writeString(folder.resolve(".blobs").resolve("part7"), "no mod");
        var longAgo = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
        Files.setLastModifiedTime(part, longAgo);
        Files.setLastModifiedTime(blob(torn), longAgo);

        assertThat(create("other", "\"from\":\"demo\"")).contains("success");
        assertThat(part).doesNotExist();
        assertThat(blob(torn)).as("that was asked for a moment ago").exists();
        server.close();
        server = open(folder);
        assertThat(blob(torn)).doesNotExist();
        assertThat(blob(young)).exists();
        assertThat(folder.resolve("torn-latest.gguf")).doesNotExist();
        Files.delete(blob(young));
        delete("other");
    }

    @Test
    void aFileOfTheFoldersOwnerIsNeverWrittenOver() throws Exception {
        byte[] file = Files.readAllBytes(DemoServer.demo());
        Path theirs = Files.copy(DemoServer.demo(), folder.resolve("owned-latest.gguf"));
        Path linked = Files.copy(DemoServer.demo(), folder.resolve("org-hunters-Q8_0.gguf"));
        String digest = upload(file);

        assertThat(create("owned", ofFile(digest))).contains("success");
        assertThat(Files.isSameFile(theirs, blob(digest))).isFalse();
        assertThat(chat("owned", turns() + ",\"options\":{\"num_predict\":2}")
                        .at("/eval_count")
                        .intValue())
                .isEqualTo(2);
        assertThat(post("/api/pull", "{\"model\":\"hf.co/org/hunters:Q8_0\",\"stream\":false}")
                        .body())
                .contains("which was not fetched");
        delete("owned");
        assertThat(theirs).hasBinaryContent(file);
        assertThat(linked).hasBinaryContent(file);
        assertThat(blob(digest)).doesNotExist();
        Files.delete(theirs);
        Files.delete(linked);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"model":"x"}                                              | name one of them
            {"from":"demo"}                                            | model is missing
            {"model":"demo","from":"demo"}                             | there is a model demo:latest already
            {"model":"../x","from":"demo"}                             | must be a name
            {"model":"x","from":"nothing"}                             | there is no model nothing
            {"model":"x","from":"demo","template":"{{ .Prompt "}       | line 1, column 1: unclosed action
            {"model":"x","from":"demo","template":"{{ .Prompt.Deep }}"} | line 1, column 4: there is no field Deep in a string
            {"model":"x","from":"demo","quantize":"q4_0"}              | roselle quantize
            {"model":"x","from":"demo","adapters":{"a":"sha256:0"}}    | 64 hexadecimal digits
            {"model":"x","from":"demo","parameters":{"mirostat":1}}    | there is no mirostat
            {"model":"x","from":"demo","parameters":{"num_ctx":99999}} | num_ctx is 99999
            {"model":"x","from":"demo","messages":[{"role":"bard"}]}   | must be system, user
            {"model":"x","files":{"a":"sha256:../../etc/passwd"}}      | 64 hexadecimal digits
            {"model":"x","from":"demo","colour":"red"}                 | colour
            """)
    void whatCannotBeHonouredIsRefusedWhenTheModelIsMade(String body, String why) {
        var refused = post("/api/create", body);

        assertThat(refused.statusCode()).isBetween(400, 404);
        assertThat(refused.body()).contains(why);
    }

    @Test
    void whatTheServerWasGivenStays() {
        var refused = send("DELETE", "/api/delete", BodyPublishers.ofString("{\"model\":\"demo\"}"));
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("the server was given demo");
        assertThat(send("DELETE", "/api/delete", BodyPublishers.ofString("{\"model\":\"x\"}"))
                        .statusCode())
                .isEqualTo(404);
    }
}
