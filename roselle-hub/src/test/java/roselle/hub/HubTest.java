package roselle.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.hub.cache.HubCache;
import roselle.hub.cache.PartFile;
import roselle.hub.file.Checksum;
import roselle.hub.http.HubApi;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubException.Kind;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.hub.request.TransferOptions;
import roselle.testing.LoopbackHub;

/** Pulling from a hub that misbehaves in every way we know of. */
class HubTest {
    private static final long SEED = 20261121;
    private static final int PIECE = 200_000;
    private static final byte[] WEIGHTS = bytes(3 * PIECE + 4321);
    private static final HubName NAME = HubName.parse("hf:org/name");

    @TempDir
    private Path cache = Path.of("");

    private LoopbackHub hub;

    @BeforeEach
    void start() throws IOException {
        hub = new LoopbackHub()
                .with("config.json", "{\"model_type\":\"llama\"}")
                .with("tokenizer.json", "{}")
                .with("pytorch_model.bin", bytes(5000))
                .with("onnx/model.onnx", bytes(5000))
                .with("model.safetensors", WEIGHTS);
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    @Test
    void pullsWhatTheModelNeedsIntoTheLayoutOfTheCache() throws IOException {
        Path snapshot = pull(NAME);
        Path folder = cache.resolve("models--org--name");
        assertThat(snapshot).isEqualTo(folder.resolve("snapshots").resolve(hub.commit()));
        assertThat(names(snapshot)).containsExactly("config.json", "model.safetensors", "tokenizer.json");
        Path link = snapshot.resolve("model.safetensors");
        assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("../../blobs", LoopbackHub.checksum(WEIGHTS)));
        assertThat(link).hasBinaryContent(WEIGHTS);
        assertThat(folder.resolve("refs/main")).hasContent(hub.commit());
        assertThat(names(folder.resolve("blobs"))).hasSize(3).noneMatch(name -> name.endsWith(".incomplete"));
        assertThat(Hub.cached(cache, NAME)).contains(snapshot);
    }

    @Test
    void pullsWhatSentenceTransformersWritesBesideAnEncoder() throws IOException {
        hub.with("modules.json", "[]")
                .with("sentence_bert_config.json", "{}")
                .with("config_sentence_transformers.json", "{}")
                .with("1_Pooling/config.json", "{}")
                .with("2_Dense/config.json", "{}")
                .with("2_Dense/model.safetensors", bytes(100))
                .with("2_Dense/pytorch_model.bin", bytes(100))
                .with("openvino/config.json", "{}");
        Path snapshot = pull(NAME);
        assertThat(names(snapshot))
                .contains("modules.json", "1_Pooling", "2_Dense")
                .doesNotContain("openvino");
        assertThat(names(snapshot.resolve("2_Dense"))).containsExactly("config.json", "model.safetensors");
        assertThat(Hub.cached(cache, NAME)).contains(snapshot);
    }

    @Test
    void pullsAnAdapterOfAModel() throws IOException {
        try (var adapters = new LoopbackHub()
                .with("adapter_config.json", "{}")
                .with("tokenizer.json", "{}")
                .with("adapter_model.safetensors", bytes(100))) {
            hub.close();
            hub = adapters;
            Path snapshot = pull(NAME);
            assertThat(names(snapshot)).containsExactly("adapter_config.json", "adapter_model.safetensors");
            assertThat(Hub.cached(cache, NAME)).contains(snapshot);
        }
    }

    @Test
    void asksForALargeFileInPieces() {
        pull(NAME);
        assertThat(ranges()).contains("bytes=" + 2 * PIECE + "-" + (3 * PIECE - 1));
    }

    @Test
    void fetchesNothingTwice() {
        pull(NAME);
        long sent = hub.bodyBytes();
        pull(NAME);
        assertThat(hub.bodyBytes()).isEqualTo(sent);
    }

    @Test
    void goesOnWhereItWasBrokenOff() {
        var pieces = new AtomicInteger();
        hub.misbehaving((exchange, content) ->
                content.length == WEIGHTS.length && pieces.incrementAndGet() > 2 && breakOff(exchange));
        assertFails(Kind.TRY_AGAIN, "run the same again");
        assertThat(Hub.cached(cache, NAME)).isEmpty();
        int before = hub.requests().size();
        hub.behaving();
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
        assertThat(hub.requests().stream()
                        .skip(before)
                        .filter(request -> request.path().endsWith("/model.safetensors"))
                        .map(request -> request.header("Range").orElse("")))
                .as("what is asked for again: the first piece was there before others were asked for")
                .isNotEmpty()
                .allMatch(range -> range.startsWith("bytes="))
                .noneMatch(range -> range.startsWith("bytes=0-"));
    }

    @Test
    void beginsAnewWhereTheServerIgnoresRanges() {
        var pieces = new AtomicInteger();
        hub.misbehaving((exchange, content) ->
                content.length == WEIGHTS.length && pieces.incrementAndGet() > 2 && breakOff(exchange));
        assertFails(Kind.TRY_AGAIN, "");
        hub.misbehaving((exchange, content) -> whole(exchange, content));
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
    }

    @Test
    void survivesBodiesThatEndEarly() {
        var requests = new AtomicInteger();
        hub.misbehaving((exchange, content) -> requests.incrementAndGet() % 3 == 0 && truncated(exchange, content));
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
    }

    @Test
    void survivesAServerThatIsOverloadedForAWhile() {
        var requests = new AtomicInteger();
        hub.misbehaving((exchange, _) -> requests.incrementAndGet() <= 3 && status(exchange, 503));
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
    }

    @Test
    void givesUpABodyThatDrips() {
        hub.misbehaving((exchange, content) -> content.length == WEIGHTS.length && drip(exchange, content));
        PullPlan plan;
        try (var client = new Hub(config(cache))) { // in its own time: a busy machine needs some
            plan = client.plan(NAME);
        }
        try (var client = new Hub(config(hub, cache, Duration.ofMillis(150)))) {
            assertThatThrownBy(() -> client.pull(plan, PullObserver.SILENT))
                    .hasMessageContaining("bytes in 150 ms")
                    .isInstanceOfSatisfying(
                            HubException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(Kind.TRY_AGAIN));
        }
    }

    @Test
    void discardsBytesThatAreNotThosePromisedTriesOnceMoreAndKeepsNothing() throws IOException {
        var weights = new AtomicInteger();
        hub.misbehaving((exchange, content) -> content.length == WEIGHTS.length && wrong(exchange, weights));
        assertFails(Kind.BAD_DATA, "fetched twice, nothing of it was kept");
        Path blobs = cache.resolve("models--org--name/blobs");
        assertThat(names(blobs)).noneMatch(name -> name.startsWith(LoopbackHub.checksum(WEIGHTS)));
    }

    @Test
    void recoversFromBytesThatWereWrongOnce() {
        var weights = new AtomicInteger();
        hub.misbehaving((exchange, content) ->
                content.length == WEIGHTS.length && weights.get() == 0 && wrong(exchange, weights));
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
    }

    @Test
    void checksSmallFilesAsGitDoes() {
        hub.misbehaving((exchange, content) -> content.length == 2 && sent(exchange, new byte[] {1, 2}));
        assertFails(Kind.BAD_DATA, "tokenizer.json has the SHA-1");
    }

    @Test
    void refusesAFileWhoseNameAndBytesDisagree() {
        hub.misbehaving((exchange, content) -> {
            exchange.getResponseHeaders().set("X-Linked-Etag", "\"" + "0".repeat(64) + "\"");
            hub.serve(exchange, content);
            return true;
        });
        assertFails(Kind.BAD_DATA, "sends another file");
    }

    @Test
    void givesTheTokenToTheHubAndToNoOther() throws IOException {
        try (var storage = new LoopbackHub()) {
            hub.storingAt(storage);
            assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
            assertThat(hub.requests())
                    .allSatisfy(request ->
                            assertThat(request.header("Authorization")).contains("Bearer hf_secret"));
            assertThat(storage.requests())
                    .isNotEmpty()
                    .allSatisfy(request ->
                            assertThat(request.header("Authorization")).isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:///etc/passwd", "ftp://127.0.0.1/x", "http://", ":::", ""})
    void followsNoRedirectOutOfHttp(String location) {
        hub.misbehaving((exchange, _) -> {
            exchange.getResponseHeaders().set("Location", location);
            return status(exchange, 302);
        });
        assertThatThrownBy(() -> pull(NAME)).isInstanceOf(HubException.class);
        assertThat(cache.resolve("models--org--name/snapshots")).doesNotExist();
    }

    @Test
    void endsWhereRedirectsTurnInACircle() {
        hub.misbehaving((exchange, _) -> {
            exchange.getResponseHeaders()
                    .set("Location", exchange.getRequestURI().toString());
            return status(exchange, 302);
        });
        assertFails(Kind.BAD_DATA, "redirects more than");
    }

    @Test
    void tellsRefusalsApart() {
        assertRefusal(401, Kind.NOT_AUTHORISED, "token may read it");
        assertRefusal(403, Kind.NOT_AUTHORISED, "accept its terms");
        assertRefusal(404, Kind.NOT_FOUND, "no such file");
        assertRefusal(400, Kind.BAD_DATA, "answers 400");
        assertRefusal(429, Kind.TRY_AGAIN, "answers 429");
    }

    private void assertRefusal(int status, Kind kind, String words) {
        hub.misbehaving((exchange, _) -> {
            LoopbackHub.refuse(exchange, status, "EntryNotFound");
            return true;
        });
        assertFails(kind, words);
    }

    @Test
    void saysThatARepositoryIsNotThere() {
        assertFails(HubName.parse("hf:org/other"), Kind.NOT_FOUND, "no such repository");
    }

    @Test
    void saysThatNobodyAnswers() {
        hub.close();
        assertFails(Kind.TRY_AGAIN, "no connection");
    }

    @Test
    void fetchesNothingOffline() {
        var offline = config(cache).withOffline();
        try (var client = new Hub(offline)) {
            assertThatThrownBy(() -> client.plan(NAME))
                    .isInstanceOfSatisfying(
                            HubException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(Kind.NOT_FOUND));
        }
        assertThat(hub.requests()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"../../etc/passwd", "/etc/passwd", "a/../../b.gguf", "a\\\\..\\\\b.gguf", "..", "x\\u0000.gguf"})
    void refusesAListingThatLeavesTheRepository(String path) {
        hub.listing("[{\"type\":\"file\",\"path\":\"" + path + "\",\"size\":1,\"oid\":\"" + "0".repeat(40) + "\"}]");
        assertFails(Kind.BAD_DATA, "no path inside a repository");
        assertThat(cache).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[{\"type\":\"file\"",
                "null",
                "{\"error\":1}",
                "[{\"type\":\"file\",\"path\":\"model.safetensors\",\"size\":-1,\"oid\":\"x\"}]",
                "[{\"type\":\"file\",\"path\":\"model.safetensors\",\"size\":99999999999999999999,\"oid\":\"x\"}]",
                "[{\"type\":\"file\",\"path\":\"model.safetensors\",\"size\":1,\"oid\":\"../../x\"}]"
            })
    void refusesAListingThatIsNone(String json) {
        hub.listing(json);
        assertFails(Kind.BAD_DATA, "org/name");
    }

    @Test
    void findsAModelAmongAMillionFiles() {
        String filler = "{\"type\":\"file\",\"path\":\"data/%d.bin\",\"size\":1,\"oid\":\"" + "0".repeat(40) + "\"},";
        var json = new StringBuilder("[");
        for (int i = 0; i < 1_000_000; i++) {
            json.append(filler.replace("%d", Integer.toString(i)));
        }
        json.append("{\"type\":\"file\",\"path\":\"tiny.gguf\",\"size\":7,\"oid\":\"" + "1".repeat(40) + "\"}]");
        hub.listing(json.toString());
        try (var client = new Hub(config(cache))) {
            assertThat(client.plan(NAME).bytes()).isEqualTo(7);
        }
    }

    @Test
    void refusesMoreModelsThanAnyoneHas() {
        String file = "{\"type\":\"file\",\"path\":\"%d.gguf\",\"size\":1,\"oid\":\"" + "0".repeat(40) + "\"},";
        var json = new StringBuilder("[");
        for (int i = 0; i <= HubApi.MAX_FILES; i++) {
            json.append(file.replace("%d", Integer.toString(i)));
        }
        hub.listing(json.append("{}]").toString());
        assertFails(Kind.BAD_DATA, "lists more than");
    }

    @Test
    void refusesAnIndexThatLeavesTheFolder() throws IOException {
        try (var other = new LoopbackHub()) {
            other.with("model.safetensors.index.json", "{\"weight_map\":{\"w\":\"../../etc/passwd\"}}");
            try (var client = new Hub(config(other, cache))) {
                assertThatThrownBy(() -> client.plan(NAME))
                        .isInstanceOf(CheckpointException.class)
                        .hasMessageContaining("same folder");
            }
        }
    }

    @Test
    void pullsTheShardsThatAnIndexNames() throws IOException {
        try (var other = new LoopbackHub()) {
            other.with("config.json", "{}")
                    .with("model-00001-of-00002.safetensors", bytes(3000))
                    .with("model-00002-of-00002.safetensors", bytes(4000))
                    .with("consolidated.safetensors", bytes(5000))
                    .with(
                            "model.safetensors.index.json",
                            "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
                                    + "\"b\":\"model-00002-of-00002.safetensors\"}}");
            try (var client = new Hub(config(other, cache))) {
                assertThat(Hub.cached(cache, NAME)).isEmpty();
                Path snapshot = client.pull(client.plan(NAME), PullObserver.SILENT);
                assertThat(names(snapshot)).hasSize(4).doesNotContain("consolidated.safetensors");
                assertThat(Hub.cached(cache, NAME)).contains(snapshot);
                Files.delete(snapshot.resolve("model-00002-of-00002.safetensors"));
                assertThat(Hub.cached(cache, NAME)).isEmpty();
            }
        }
    }

    @Test
    void refusesWhatTheDiskCannotHold() {
        hub.listing("[{\"type\":\"file\",\"path\":\"a.gguf\",\"size\":" + (1L << 44) + ",\"oid\":\"" + "0".repeat(40)
                + "\"}]");
        assertFails(Kind.DISK, "free some");
    }

    @Test
    void countsWhatItReceives() {
        var received = new AtomicLong();
        var observer = new PullObserver() {
            @Override
            public void received(long bytes) {
                received.addAndGet(bytes);
            }
        };
        var requests = new AtomicInteger();
        hub.misbehaving((exchange, content) -> requests.incrementAndGet() % 3 == 0 && truncated(exchange, content));
        try (var client = new Hub(config(cache))) {
            PullPlan plan = client.plan(NAME);
            client.pull(plan, observer);
            assertThat(received.get()).isEqualTo(plan.missingBytes()).isEqualTo(plan.bytes());
        }
    }

    @Test
    void takesUpAPartThatAKillLeftBehind() throws IOException {
        Path blob = new HubCache(cache, "org/name").blob(new Checksum(LoopbackHub.checksum(WEIGHTS)));
        Files.createDirectories(blob.getParent());
        try (var part = PartFile.open(PartFile.of(blob), WEIGHTS.length, PIECE)) {
            part.append(1, ByteBuffer.wrap(WEIGHTS, PIECE, PIECE));
        }
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
        assertThat(ranges()).noneMatch(range -> range.startsWith("bytes=" + PIECE + "-"));
    }

    @Test
    void distrustsAPartOfAnotherShape() throws IOException {
        Path blob = new HubCache(cache, "org/name").blob(new Checksum(LoopbackHub.checksum(WEIGHTS)));
        Files.createDirectories(blob.getParent());
        Files.write(PartFile.of(blob), bytes(WEIGHTS.length + 56));
        assertThat(pull(NAME).resolve("model.safetensors")).hasBinaryContent(WEIGHTS);
    }

    // ---- faults ----

    private static boolean breakOff(HttpExchange exchange) {
        exchange.close();
        return true;
    }

    private static boolean status(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        return true;
    }

    private boolean whole(HttpExchange exchange, byte[] content) throws IOException {
        hub.send(exchange, 200, content, 0, content.length);
        return true;
    }

    private boolean sent(HttpExchange exchange, byte[] other) throws IOException {
        hub.serve(exchange, other);
        return true;
    }

    private boolean wrong(HttpExchange exchange, AtomicInteger count) throws IOException {
        count.incrementAndGet();
        byte[] other = WEIGHTS.clone();
        other[7]++;
        return sent(exchange, other);
    }

    /** Promises all and sends half. */
    private static boolean truncated(HttpExchange exchange, byte[] content) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        int from = Integer.parseInt(range.substring("bytes=".length(), range.indexOf('-')));
        int to = Math.min(content.length, Integer.parseInt(range.substring(range.indexOf('-') + 1)) + 1);
        exchange.getResponseHeaders().set("Content-Range", "bytes " + from + "-" + (to - 1) + "/" + content.length);
        exchange.sendResponseHeaders(206, to - from);
        exchange.getResponseBody().write(content, from, (to - from) / 2);
        exchange.getResponseBody().flush();
        exchange.close();
        return true;
    }

    /** Sends a byte now and then, until nobody listens. */
    private static boolean drip(HttpExchange exchange, byte[] content) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        int from = Integer.parseInt(range.substring("bytes=".length(), range.indexOf('-')));
        exchange.getResponseHeaders()
                .set("Content-Range", "bytes " + from + "-" + (content.length - 1) + "/" + content.length);
        exchange.sendResponseHeaders(206, content.length - from);
        try (OutputStream out = exchange.getResponseBody()) {
            for (int at = from; at < content.length; at++) {
                out.write(content[at]);
                out.flush();
                java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
            }
        } catch (IOException _) {
            return true; // the other side has given up
        }
        return true;
    }

    // ---- scaffolding ----

    private Path pull(HubName name) {
        try (var client = new Hub(config(cache))) {
            return client.pull(client.plan(name), PullObserver.SILENT);
        }
    }

    private void assertFails(Kind kind, String words) {
        assertFails(NAME, kind, words);
    }

    private void assertFails(HubName name, Kind kind, String words) {
        assertThatThrownBy(() -> pull(name))
                .hasMessageContaining(words)
                .isInstanceOfSatisfying(
                        HubException.class,
                        failure -> assertThat(failure.kind()).isEqualTo(kind));
    }

    private HubConfig config(Path folder) {
        return config(hub, folder);
    }

    /** Times that only a machine that stands still exceeds. */
    private static HubConfig config(LoopbackHub server, Path folder) {
        return config(server, folder, Duration.ofMinutes(1));
    }

    private static HubConfig config(LoopbackHub server, Path folder, Duration stall) {
        var times = new TransferOptions.Times(
                Duration.ofMinutes(1),
                Duration.ofMinutes(2),
                stall,
                Duration.ofMillis(1),
                Duration.ofMinutes(5),
                Duration.ofMinutes(1));
        return new HubConfig(
                server.uri(), Optional.of("hf_secret"), folder, false, new TransferOptions(times, 4, PIECE));
    }

    private List<String> ranges() {
        return hub.requests().stream()
                .map(request -> request.header("Range").orElse(""))
                .toList();
    }

    private static List<String> names(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(SEED + count).nextBytes(bytes);
        return bytes;
    }
}
