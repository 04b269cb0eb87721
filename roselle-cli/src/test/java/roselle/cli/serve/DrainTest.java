package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import roselle.server.config.ApiKey;
import roselle.server.config.ApiKeyFile;
import roselle.server.config.DrainOptions;
import roselle.server.config.KeyLimits;

/** A process that serves is told to end while it streams. */
@Tag("long")
final class DrainTest {
    /** Megabytes, more than lie between a server and a client that does not read: it ends when the client has read it. */
    private static final String LONG_STREAM = """
            {"messages":[{"role":"user","content":"Tell me a story."}],"max_tokens":900,"n":8,"ignore_eos":true,"stream":true,
             "logprobs":true,"top_logprobs":20}""";

    /** One answer after the other, by a server that gives one at a time: it goes on for as long as a test may look. */
    private static final String ENDLESS_STREAM = """
            {"messages":[{"role":"user","content":"Tell me a story."}],"max_tokens":900,"n":100,"ignore_eos":true,"stream":true}""";

    private static final String SHORT = "{\"prompt\":\"a\"}";

    /** Starts a program that belongs to no terminal, as services are. */
    private static final Path SETSID = Path.of("/usr/bin/setsid");

    @TempDir
    private Path folder;

    /** A server in a process of its own. */
    private final class Serving implements AutoCloseable {
        private final Process process;
        private final BufferedReader said;
        private final URI uri;
        private final HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

        Serving(String... options) throws IOException {
            this(Path.of("demo"), options);
        }

        Serving(Path model, String... options) throws IOException {
            var command = new ArrayList<>(Files.isExecutable(SETSID) ? List.of(SETSID.toString()) : List.<String>of());
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--add-modules",
                    "jdk.incubator.vector",
                    "-Xmx1g",
                    "-Djava.io.tmpdir=" + folder, // a dump's files are left behind by a process that is killed
                    "-cp",
                    System.getProperty("java.class.path"),
                    Main.class.getName(),
                    "serve",
                    model.toString(),
                    "--port=0"));
            command.addAll(List.of(options));
            process = new ProcessBuilder(command)
                    .redirectError(folder.resolve("errors").toFile())
                    .start();
            said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            uri = URI.create(firstLine("serving " + model.getFileName() + " at "));
        }

        private String firstLine(String begin) throws IOException {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith(begin)) {
                    return line.substring(begin.length());
                }
            }
            throw new AssertionError("the server ended before it served");
        }

        HttpResponse<String> get(String path) throws IOException, InterruptedException {
            return client.send(HttpRequest.newBuilder(uri.resolve(path)).build(), HttpResponse.BodyHandlers.ofString());
        }

        int statusFor(String key) throws IOException, InterruptedException {
            var request = HttpRequest.newBuilder(uri.resolve("/v1/models")).header("authorization", "Bearer " + key);
            return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }

        HttpRequest post(String path, String body) {
            return HttpRequest.newBuilder(uri.resolve(path))
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
        }

        /** A stream of which the first event has come. */
        BufferedReader stream(String body) throws IOException, InterruptedException {
            var answer = client.send(post("/v1/chat/completions", body), HttpResponse.BodyHandlers.ofInputStream());
            var events = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
            assertThat(events.readLine()).startsWith("data: {\"id\"");
            return events;
        }

        /** Sends SIGTERM. */
        void terminate() {
            process.destroy();
        }

        int status() throws InterruptedException {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
            client.shutdownNow();
        }
    }

    @Test
    void finishesItsStreamsWhileItRefusesWhatIsNew() throws IOException, InterruptedException {
        try (var serving = new Serving("--drain-grace=600", "--write-timeout=600")) {
            assertThat(serving.get("/ready").statusCode()).isEqualTo(200);
            var events = serving.stream(LONG_STREAM);

            serving.terminate();
            await(serving, "/ready", 503);

            assertThat(serving.get("/health").statusCode()).isEqualTo(200);
            var refused = serving.client.send(serving.post("/tokenize", SHORT), HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.body()).contains("\"ending\"");
            assertThat(refused.headers().firstValue("retry-after")).isPresent();
            List<String> lines = events.lines().filter(line -> !line.isEmpty()).toList();
            assertThat(lines.getLast()).isEqualTo("data: [DONE]");
            assertThat(lines)
                    .filteredOn(line -> line.contains("\"finish_reason\":\"length\""))
                    .hasSize(8);
            assertThat(serving.status()).isZero();
        }
    }

    @Test
    void servesAnEncoderAndEndsWithIt() throws IOException, InterruptedException {
        try (var serving = new Serving(Path.of("../roselle-engine/src/test/resources/tiny-encoders/bert"))) {
            var vectors = serving.client.send(
                    serving.post("/v1/embeddings", "{\"input\":\"Hi.\"}"), HttpResponse.BodyHandlers.ofString());
            assertThat(vectors.statusCode()).as(vectors.body()).isEqualTo(200);

            serving.terminate();

            assertThat(serving.status()).isZero();
        }
    }

    @Test
    void breaksOffWhatTheGraceDoesNotCover() throws IOException, InterruptedException {
        try (var serving = new Serving("--drain-grace=0", "--max-sequences=1")) {
            var events = serving.stream(ENDLESS_STREAM);

            serving.terminate();

            List<String> lines = events.lines().filter(line -> !line.isEmpty()).toList();
            assertThat(lines.getLast()).startsWith("data: {\"error\":").contains("\"ending\"");
            assertThat(serving.status()).isZero();
        }
    }

    @Test
    void endsAtOnceAtASecondSignal() throws IOException, InterruptedException {
        try (var serving = new Serving("--drain-grace=600", "--write-timeout=600")) {
            serving.stream(LONG_STREAM);

            serving.terminate();
            await(serving, "/ready", 503);
            do { // the next one, and those within a moment after the first, count as the first
                serving.terminate();
            } while (!serving.process.waitFor(300, TimeUnit.MILLISECONDS));

            assertThat(serving.status()).isEqualTo(143);
            assertThat(folder.resolve("errors")).content().endsWith("ended at once, because of a second signal\n");
        }
    }

    @Test
    void hasTheLatestStepsAndRequestsForTheFlightRecorder() throws IOException, InterruptedException {
        try (var serving = new Serving()) {
            long end = System.nanoTime() + 120_000_000_000L;
            while (!jcmd(serving, "JFR.check").contains("name=roselle")) { // it begins just after the server is ready
                assertThat(System.nanoTime()).as("waited 120 seconds").isLessThan(end);
            }
            var answer = serving.client.send(
                    serving.post("/v1/completions", "{\"prompt\":\"Once\",\"max_tokens\":5,\"ignore_eos\":true}"),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);

            Path file = folder.resolve("incident.jfr");
            // in quotes, since jcmd joins its arguments to one line
            String said = jcmd(serving, "JFR.dump", "name=roselle", "filename=\"" + file + "\"");

            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            assertThat(events)
                    .as(said)
                    .extracting(event -> event.getEventType().getName())
                    .contains("roselle.Request", "roselle.Step");
            assertThat(events)
                    .filteredOn(event -> event.getEventType().getName().equals("roselle.Request"))
                    .hasSize(1);
        }
    }

    private static String jcmd(Serving serving, String... command) throws IOException, InterruptedException {
        var words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(serving.process.pid())));
        words.addAll(List.of(command));
        var process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    /** Not by a terminal that goes, which would end it, but as to a service. */
    @Test
    void readsItsFilesAgainAtAHangUp() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(SETSID), "there is no setsid");
        Path keys = folder.resolve("keys");
        String first = addKey(keys, "first");
        try (var serving = new Serving("--api-keys=" + keys)) {
            assertThat(serving.statusFor(first)).isEqualTo(200);
            Files.delete(keys);
            String second = addKey(keys, "second");

            hangUp(serving.process);

            long end = System.nanoTime() + 120_000_000_000L;
            while (serving.statusFor(second) != 200) {
                assertThat(System.nanoTime()).as("waited 120 seconds").isLessThan(end);
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(serving.statusFor(first)).isEqualTo(401);
            serving.terminate();
            assertThat(serving.status()).isZero();
        }
    }

    private static String addKey(Path file, String name) throws IOException {
        String secret = ApiKey.random();
        var key = new ApiKey(name, ApiKey.sha256(secret), KeyLimits.DEFAULT);
        Files.writeString(file, ApiKeyFile.line(key, KeyLimits.DEFAULT) + "\n");
        return secret;
    }

    private static void hangUp(Process process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-HUP", Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void endsAtOnceWhenItHasNothingToDo() throws IOException, InterruptedException {
        try (var serving = new Serving()) {
            await(serving, "/health", 200); // leaves a connection open
            long begin = System.nanoTime();

            serving.terminate();

            assertThat(serving.status()).isZero();
            assertThat(System.nanoTime() - begin)
                    .isLessThan(DrainOptions.DEFAULT.grace().toNanos());
        }
    }

    private static void await(Serving serving, String path, int status) throws IOException, InterruptedException {
        long end = System.nanoTime() + 120_000_000_000L;
        while (serving.get(path).statusCode() != status) {
            assertThat(System.nanoTime()).as("waited 120 seconds").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
