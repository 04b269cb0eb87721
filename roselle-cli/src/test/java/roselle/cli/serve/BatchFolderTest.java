package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed within a batch, and another one that goes on with its folder. */
@Tag("long")
final class BatchFolderTest {
    private static final int LINES = 160;
    private static final JsonMapper MAPPER = new JsonMapper();

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    private final class Serving implements AutoCloseable {
        private final Process process;
        private final URI uri;

        Serving() throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--add-modules",
                            "jdk.incubator.vector",
                            "-Xmx1g",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Main.class.getName(),
                            "serve",
                            "demo",
                            "--port=0",
                            "--batch-folder=" + folder)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            var said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = said.readLine();
            assertThat(line).startsWith("serving demo at ");
            uri = URI.create(line.substring("serving demo at ".length()));
        }

        String send(HttpRequest.Builder request) throws Exception {
            var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body();
        }

        JsonNode get(String path) throws Exception {
            return MAPPER.readTree(send(HttpRequest.newBuilder(uri.resolve(path))));
        }

        String text(String path) throws Exception {
            return send(HttpRequest.newBuilder(uri.resolve(path)));
        }

        JsonNode post(String path, String type, String body) throws Exception {
            return MAPPER.readTree(send(HttpRequest.newBuilder(uri.resolve(path))
                    .header("content-type", type)
                    .POST(HttpRequest.BodyPublishers.ofString(body))));
        }

        @Override
        public void close() {
            process.destroyForcibly();
            process.onExit().join();
        }
    }

    private static String lines() {
        return IntStream.range(0, LINES)
                .mapToObj(i -> "{\"custom_id\":\"id-" + i
                        + "\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":{\"prompt\":\"a\",\"max_tokens\":40,"
                        + "\"ignore_eos\":true}}\r\n")
                .reduce("", String::concat);
    }

    private static String form() {
        return "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n"
                + "Content-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n" + lines()
                + "\r\n--b--\r\n";
    }

    @Test
    void anotherServerGoesOnWithEachRequestOnce() throws Exception {
        String batch;
        List<String> before;
        try (var first = new Serving()) {
            String file = first.post("/v1/files", "multipart/form-data; boundary=b", form())
                    .get("id")
                    .stringValue();
            batch = first.post(
                            "/v1/batches",
                            "application/json",
                            "{\"input_file_id\":\"" + file
                                    + "\",\"endpoint\":\"/v1/completions\",\"completion_window\":\"24h\"}")
                    .get("id")
                    .stringValue();
            while (first.get("/v1/batches/" + batch)
                            .at("/request_counts/completed")
                            .intValue()
                    == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }
        before = kept(batch);
        assertThat(before).isNotEmpty();

        try (var second = new Serving()) {
            JsonNode state = second.get("/v1/batches/" + batch);
            while (!state.get("status").stringValue().equals("completed")) {
                assertThat(state.get("status").stringValue()).isIn("in_progress", "finalizing");
                LockSupport.parkNanos(10_000_000);
                state = second.get("/v1/batches/" + batch);
            }
            List<JsonNode> answers = second.text(
                            "/v1/files/" + state.get("output_file_id").stringValue() + "/content")
                    .lines()
                    .map(MAPPER::readTree)
                    .toList();
            assertThat(answers.stream().map(each -> each.get("custom_id").stringValue()))
                    .containsExactlyElementsOf(
                            IntStream.range(0, LINES).mapToObj(i -> "id-" + i).toList());
            assertThat(answers.stream().map(each -> each.get("id").stringValue()))
                    .containsAll(before);
            assertThat(kept(batch)).isEmpty();
        }
    }

    /** The ids of the answers that are kept whole, drawn at random when they were given. */
    private List<String> kept(String batch) throws IOException {
        Path file = folder.resolve("batches").resolve(batch);
        String text = Files.exists(file) ? Files.readString(file) : "";
        return text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .map(line -> line.replaceFirst(".*\"id\":\"(batch_req_[0-9a-f]+)\".*", "$1"))
                .toList();
    }
}
