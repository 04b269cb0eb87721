package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.BatchFolder;
import roselle.server.config.KeyLimits;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Files and batches over HTTP: every answer once, as the server itself gives it, also after a restart. */
final class BatchTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String BOUNDARY = "some-boundary";

    @TempDir
    private Path folder;

    private DemoServer demo;
    private Pace pace;

    @BeforeEach
    void start() {
        pace = new Pace();
        demo = new DemoServer(config(), pace);
    }

    @AfterEach
    void stop() {
        demo.close();
    }

    private ServerConfig config() {
        return ServerConfig.DEFAULT.with(BatchFolder.in(folder));
    }

    private void restart() {
        demo.close();
        start();
    }

    private static String line(String id, String body) {
        return "{\"custom_id\":\"" + id + "\",\"method\":\"POST\",\"url\":\"" + CHAT + "\",\"body\":" + body + "}";
    }

    private static String body(int number) {
        return "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi " + number
                + "\"}],\"max_tokens\":4,\"temperature\":0}";
    }

    private static String lines(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> line("id-" + i, body(i)) + "\n")
                .reduce("", String::concat);
    }

    private HttpRequest.Builder form(String content) {
        String form = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--"
                + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n" + content + "\r\n--" + BOUNDARY + "--\r\n";
        return HttpRequest.newBuilder(demo.at("/v1/files"))
                .header("content-type", "multipart/form-data; boundary=" + BOUNDARY)
                .POST(HttpRequest.BodyPublishers.ofString(form));
    }

    private static JsonNode sound(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private String file(String content) {
        return sound(demo.send(form(content).build())).get("id").stringValue();
    }

    private static String order(String file) {
        return "{\"input_file_id\":\"" + file + "\",\"endpoint\":\"" + CHAT
                + "\",\"completion_window\":\"24h\",\"metadata\":{\"a\":\"b\"}}";
    }

    private String begin(String content) {
        return sound(demo.post("/v1/batches", order(file(content)))).get("id").stringValue();
    }

    private JsonNode batch(String id) {
        return sound(demo.get("/v1/batches/" + id));
    }

    private JsonNode ended(String id, String state) {
        DemoServer.await(() -> List.of("completed", "failed", "cancelled", "expired")
                .contains(batch(id).get("status").stringValue()));
        JsonNode batch = batch(id);
        assertThat(batch.get("status").stringValue()).as(batch.toString()).isEqualTo(state);
        return batch;
    }

    private List<JsonNode> content(JsonNode batch, String field) {
        HttpResponse<String> content = demo.get("/v1/files/" + batch.get(field).stringValue() + "/content");
        assertThat(content.statusCode()).isEqualTo(200);
        return content.body().lines().map(DemoServer::json).toList();
    }

    private static List<String> ids(List<JsonNode> lines) {
        return lines.stream().map(line -> line.get("custom_id").stringValue()).toList();
    }

    private static String text(JsonNode answer) {
        return answer.at("/choices/0/message/content").stringValue();
    }

    @Test
    void answersEachLineAsTheServerDoes() {
        String wrong = line("wrong", body(0).replace("\"temperature\":0", "\"temperature\":-1"));
        JsonNode batch = ended(begin(lines(5) + "\n" + wrong), "completed");

        assertThat(batch.get("request_counts").toString()).isEqualTo("{\"total\":6,\"completed\":5,\"failed\":1}");
        assertThat(batch.at("/metadata/a").stringValue()).isEqualTo("b");
        var description = Description.of(demo);
        assertThat(description.complaints("Batch", batch)).isEmpty();
        assertThat(description.complaints("BatchList", sound(demo.get("/v1/batches"))))
                .isEmpty();
        assertThat(description.complaints("FileList", sound(demo.get("/v1/files"))))
                .isEmpty();
        List<JsonNode> answers = content(batch, "output_file_id");
        assertThat(ids(answers)).containsExactly("id-0", "id-1", "id-2", "id-3", "id-4");
        for (int i = 0; i < 5; i++) {
            JsonNode online = sound(demo.post(CHAT, body(i)));
            assertThat(text(answers.get(i).at("/response/body"))).isEqualTo(text(online));
            assertThat(answers.get(i).at("/response/status_code").intValue()).isEqualTo(200);
        }
        List<JsonNode> errors = content(batch, "error_file_id");
        assertThat(ids(errors)).containsExactly("wrong");
        assertThat(errors.getFirst().at("/response/status_code").intValue()).isEqualTo(400);
        assertThat(errors.getFirst().at("/response/body/error/param").stringValue())
                .isEqualTo("temperature");
    }

    @Test
    void goesOnAfterARestartWithEachLineOnce() {
        pace.hold();
        String id = begin(lines(70));
        DemoServer.await(() -> batch(id).get("status").stringValue().equals("in_progress"));
        pace.go();
        DemoServer.await(() -> batch(id).at("/request_counts/completed").intValue() > 0);
        pace.hold();
        restart();

        JsonNode batch = ended(id, "completed");
        assertThat(ids(content(batch, "output_file_id")))
                .containsExactlyElementsOf(
                        IntStream.range(0, 70).mapToObj(i -> "id-" + i).toList());
        assertThat(demo.engine().status().isAlive()).isTrue();
    }

    @Test
    void cancelsAndSaysOfEachLineWhatBecameOfIt() {
        pace.hold();
        String id = begin(lines(3));
        JsonNode cancelling = sound(demo.post("/v1/batches/" + id + "/cancel", ""));
        assertThat(cancelling.get("status").stringValue()).isIn("cancelling", "cancelled");
        pace.go();

        JsonNode batch = ended(id, "cancelled");
        assertThat(batch.get("output_file_id").isNull()).isTrue();
        List<JsonNode> errors = content(batch, "error_file_id");
        assertThat(ids(errors)).containsExactly("id-0", "id-1", "id-2");
        assertThat(errors.getFirst().at("/error/code").stringValue()).isEqualTo("batch_cancelled");
        assertThat(demo.post("/v1/batches/" + id + "/cancel", "").statusCode()).isEqualTo(400);
    }

    /** As the document says, too: a body with every field of an order, and nothing else. */
    @Test
    void readsEveryFieldOfAnOrder() {
        String order = order(file(lines(1)))
                .replace("}}", "},\"output_expires_after\":{\"anchor\":\"created_at\",\"seconds\":%d}}");
        var description = Description.of(demo);

        assertThat(description.complaints("BatchOrder", DemoServer.json(order.formatted(3600))))
                .isEmpty();
        assertThat(description.complaints("BatchOrder", DemoServer.json(order.formatted(3599))))
                .isNotEmpty();
        assertThat(demo.post("/v1/batches", order.formatted(3599)).statusCode()).isEqualTo(400);
        assertThat(demo.post("/v1/batches", order.formatted(3600).replace("24h", "1h"))
                        .statusCode())
                .isEqualTo(400);
        assertThat(demo.post("/v1/batches", order.formatted(3600).replace("metadata", "data"))
                        .body())
                .contains("unknown_parameter");
        JsonNode batch = ended(
                sound(demo.post("/v1/batches", order.formatted(3600))).get("id").stringValue(), "completed");
        JsonNode output =
                sound(demo.get("/v1/files/" + batch.get("output_file_id").stringValue()));
        assertThat(output.get("expires_at").longValue()
                        - output.get("created_at").longValue())
                .isEqualTo(3600);
        assertThat(output.get("purpose").stringValue()).isEqualTo("batch_output");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|empty_file|0",
                "'{'|invalid_json_line|1",
                "'{\"custom_id\":\"a\"}'|invalid_request|1",
                "'{\"custom_id\":\"a\",\"method\":\"GET\",\"url\":\"/v1/completions\",\"body\":{}}'|invalid_method|1",
                "'{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/models\",\"body\":{}}'|invalid_url|1",
                "'{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":{}}'|mismatched_endpoint|1"
            })
    void failsAsAWholeWhereALineIsNoRequest(String content, String code, int line) {
        JsonNode error = ended(begin(content), "failed").at("/errors/data/0");

        assertThat(error.get("code").stringValue()).isEqualTo(code);
        assertThat(error.get("line").asInt(0)).isEqualTo(line);
    }

    @Test
    void refusesAnIdThatCameBefore() {
        JsonNode batch = ended(begin(line("a", body(0)) + "\n" + line("a", body(1))), "failed");

        assertThat(batch.at("/errors/data/0/code").stringValue()).isEqualTo("duplicate_custom_id");
    }

    @Test
    void refusesStreamsAndPrioritiesOfSingleLines() {
        String stream = line("a", body(0).replace("\"temperature\":0", "\"stream\":true"));
        String priority = line("b", body(0).replace("\"temperature\":0", "\"priority\":5"));
        List<JsonNode> errors = content(ended(begin(stream + "\n" + priority), "completed"), "error_file_id");

        assertThat(errors.stream()
                        .map(error -> error.at("/response/body/error/param").stringValue()))
                .containsExactly("stream", "priority");
    }

    @Test
    void keepsListsAndRemovesFiles() throws Exception {
        String one = file("one\r\n--some\r\n\r\r\n-");
        String two = file("two");

        assertThat(demo.get("/v1/files/" + one + "/content").body()).isEqualTo("one\r\n--some\r\n\r\r\n-");
        assertThat(sound(demo.get("/v1/files?limit=1")).toString()).contains(two, "\"has_more\":true");
        assertThat(sound(demo.get("/v1/files?limit=1&after=" + two)).toString()).contains(one, "\"has_more\":false");
        var removed = HttpRequest.newBuilder(demo.at("/v1/files/" + one)).DELETE();
        assertThat(sound(demo.send(removed.build())).get("deleted").booleanValue())
                .isTrue();
        assertThat(demo.get("/v1/files/" + one).statusCode()).isEqualTo(404);
        restart();
        assertThat(sound(demo.get("/v1/files")).get("data").size()).isEqualTo(1);
        try (Stream<Path> kept = Files.list(folder.resolve("files"))) {
            assertThat(kept.map(file -> file.getFileName().toString())).containsExactly(two);
        }
    }

    /** 200 MiB are taken, a byte more is refused, and nothing of it is left. */
    @Test
    @Tag("long")
    void takesFilesOfTwoHundredMebibytes() throws Exception {
        long most = 200L << 20;

        assertThat(demo.send(large(most)).statusCode()).isEqualTo(200);
        HttpResponse<String> refused = demo.send(large(most + 1));
        assertThat(refused.statusCode()).isEqualTo(413);
        assertThat(refused.body()).contains("" + most);
        try (Stream<Path> kept = Files.list(folder.resolve("files"))) {
            assertThat(kept.map(file -> file.toFile().length())).containsExactly(most);
        }
    }

    private HttpRequest large(long bytes) {
        String[] around = ("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--"
                        + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n"
                        + "|\r\n--" + BOUNDARY + "--\r\n")
                .split("\\|");
        byte[] piece = new byte[1 << 20];
        Arrays.fill(piece, (byte) 'x');
        var pieces = new ArrayList<byte[]>(List.of(around[0].getBytes(StandardCharsets.UTF_8)));
        for (long left = bytes; left > 0; left -= piece.length) {
            pieces.add(left < piece.length ? Arrays.copyOf(piece, (int) left) : piece);
        }
        pieces.add(around[1].getBytes(StandardCharsets.UTF_8));
        return form("").POST(HttpRequest.BodyPublishers.ofByteArrays(pieces)).build();
    }

    @Test
    void refusesFormsThatAreNone() {
        var quoted = form("x").setHeader("content-type", "Multipart/Form-Data; boundary=\"" + BOUNDARY + "\"");
        var wrong = HttpRequest.newBuilder(demo.at("/v1/files"))
                .header("content-type", "multipart/form-data; boundary=" + BOUNDARY)
                .POST(HttpRequest.BodyPublishers.ofString("--" + BOUNDARY + "\r\nContent-Disposition: form"));

        assertThat(demo.send(quoted.build()).statusCode()).isEqualTo(200);
        assertThat(demo.send(wrong.build()).statusCode()).isEqualTo(400);
        assertThat(demo.post("/v1/files", "{}").statusCode()).isEqualTo(415);
    }

    @Test
    void saysHowItIsSwitchedOn() {
        try (var without = new DemoServer()) {
            assertThat(without.get("/v1/batches").body()).contains("--batch-folder", "not_supported");
        }
    }

    @Test
    void keysDoNotSeeEachOthersFiles() {
        String one = ApiKey.random();
        String other = ApiKey.random();
        demo.close();
        demo = new DemoServer(config().with(AccessOptions.DEFAULT.withKeys(List.of(
                new ApiKey("one", ApiKey.sha256(one), KeyLimits.DEFAULT),
                new ApiKey("other", ApiKey.sha256(other), KeyLimits.DEFAULT)))));
        String id = sound(demo.send(
                        form(lines(1)).header("authorization", "Bearer " + one).build()))
                .get("id")
                .stringValue();

        var foreign = HttpRequest.newBuilder(demo.at("/v1/files/" + id)).header("authorization", "Bearer " + other);
        var own = HttpRequest.newBuilder(demo.at("/v1/files/" + id)).header("authorization", "Bearer " + one);
        assertThat(demo.send(foreign.build()).statusCode()).isEqualTo(404);
        assertThat(demo.send(own.build()).statusCode()).isEqualTo(200);
        var order = demo.request("/v1/batches", order(id)).header("authorization", "Bearer " + other);
        assertThat(demo.send(order.build()).statusCode()).isEqualTo(404);
    }
}
