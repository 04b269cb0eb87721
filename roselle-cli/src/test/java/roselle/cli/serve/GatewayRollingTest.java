package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import roselle.server.Server;
import roselle.server.config.GatewayOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;

/** Servers behind a gateway are killed and replaced while clients ask: no client sees it. */
@Tag("manual")
final class GatewayRollingTest {
    private static final int CLIENTS = 4;
    private static final int ANSWERS = 12;
    private static final String WHOLE =
            "{\"prompt\":\"Once upon a time\",\"max_tokens\":24,\"ignore_eos\":true,\"stream\":false}";
    private static final String STREAM = WHOLE.replace("false", "true");

    @TempDir
    private Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicInteger answered = new AtomicInteger();
    private final List<String> wrong = new ArrayList<>();
    private volatile boolean isOver;

    /** A server in a process of its own, at a port that its successor has, too. */
    private final class Serving {
        private final int port;
        private final String host;
        private Process process;

        Serving(String host) throws IOException {
            this.host = host;
            try (var socket = new ServerSocket(0, 1, InetAddress.getByName(host))) {
                port = socket.getLocalPort();
            }
            process = start();
        }

        private Process start() throws IOException {
            Process started = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--add-modules",
                            "jdk.incubator.vector",
                            "-Xmx1g",
                            "-XX:TieredStopAtLevel=1",
                            "-Djava.io.tmpdir=" + folder,
                            "-cp",
                            System.getProperty("java.class.path"),
                            Main.class.getName(),
                            "serve",
                            "demo",
                            "--host=" + host,
                            "--port=" + port,
                            "--threads=1")
                    .redirectError(folder.resolve("errors").toFile())
                    .start();
            var said = new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8));
            assertThat(said.readLine()).startsWith("serving demo");
            return started;
        }

        URI uri() {
            return URI.create("http://" + host + ":" + port);
        }

        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }

        /** Ends it by SIGTERM, and starts its successor. */
        void replace() throws IOException, InterruptedException {
            process.destroy();
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            process = start();
        }

        void restart() throws IOException {
            process = start();
        }
    }

    @Test
    void noClientSeesThatServersAreKilledAndReplaced() throws Exception {
        var first = new Serving("127.0.0.2");
        var second = new Serving("127.0.0.3");
        var options = GatewayOptions.of(List.of(first.uri(), second.uri())).withProbe(Duration.ofMillis(100));
        var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
        try (var gateway = Server.gateway(config, options);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            await(() -> gateway.describe().stream().allMatch(member -> member.endsWith(" ready")));
            for (int number = 0; number < CLIENTS; number++) {
                String body = number % 2 == 0 ? WHOLE : STREAM;
                clients.execute(() -> ask(gateway.uri(), body));
            }
            try {
                awaitAnswers();
                first.kill();
                awaitAnswers();
                first.restart();
                await(() -> gateway.describe().getFirst().endsWith(" ready"));
                first.replace();
                await(() -> gateway.describe().getFirst().endsWith(" ready"));
                second.replace();
                await(() -> gateway.describe().getLast().endsWith(" ready"));
                awaitAnswers();
            } finally {
                isOver = true;
            }
        } finally {
            first.kill();
            second.kill();
        }
        // a stream that a client had begun to read when its server was killed cannot be asked again, and says so
        assertThat(wrong)
                .filteredOn(what -> !what.contains("the server that was answering has gone"))
                .isEmpty();
        assertThat(wrong).hasSizeLessThanOrEqualTo(CLIENTS / 2);
    }

    private void ask(URI gateway, String body) {
        var request = HttpRequest.newBuilder(gateway.resolve("/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        while (!isOver) {
            try {
                HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                boolean isWhole = body.equals(WHOLE) || answer.body().endsWith("data: [DONE]\n\n");
                if (answer.statusCode() != 200 || !isWhole) {
                    note(answer.statusCode() + " " + answer.body());
                }
            } catch (IOException failure) {
                note(failure.toString());
            } catch (InterruptedException interruption) {
                Thread.currentThread().interrupt();
                return;
            }
            answered.incrementAndGet();
        }
    }

    private synchronized void note(String what) {
        wrong.add(what);
    }

    private void awaitAnswers() {
        int until = answered.get() + ANSWERS;
        await(() -> answered.get() >= until);
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 180_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited 180 seconds").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
