package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.server.config.LimitOptions;
import roselle.server.config.ServerConfig;
import roselle.server.config.TimeLimits;

/** Peers that keep a connection busy by doing next to nothing. */
final class SlowPeerTest {
    private static final int TOKENS = 800;
    private static final String STORY = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":"
            + TOKENS + ",\"ignore_eos\":true,\"n\":%d,\"stream\":true}";

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** A minute to ask in, since a busy machine may be slow to, and a second to take a part of the answer in. */
    private static final ServerConfig ASKED_SLOWLY = ServerConfig.DEFAULT.with(LimitOptions.DEFAULT.with(
            new TimeLimits(Duration.ofSeconds(3), Duration.ofMinutes(1), Duration.ofMinutes(1), SECOND)));

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer(ServerConfig.DEFAULT.with(
                LimitOptions.DEFAULT.with(new TimeLimits(Duration.ofSeconds(3), SECOND, SECOND, SECOND))));
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static final List<String> BEGINNINGS = List.of(
            "G",
            "GET /version HTTP/1.1\r\n",
            "GET /version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
            "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
            "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n99999\r\n");

    /** All at a time, since each has a second. */
    @TestFactory
    Stream<DynamicTest> closesTheConnectionOfAPeerThatSendsByteByByte() {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        List<Future<Boolean>> closed = BEGINNINGS.stream()
                .map(begin -> threads.submit(() -> isClosedWhileDripping(begin)))
                .toList();
        threads.shutdown();
        return IntStream.range(0, closed.size())
                .mapToObj(index -> DynamicTest.dynamicTest(BEGINNINGS.get(index), () -> {
                    assertThat(closed.get(index).get()).isTrue();
                    assertThat(demo.get("/version").statusCode()).isEqualTo(200);
                }));
    }

    private static boolean isClosedWhileDripping(String begin) throws IOException {
        try (var connection = new PlainConnection(demo.server().port())) {
            connection.send(begin);
            return isClosedWhileDripping(connection);
        }
    }

    /** A byte now and then, until the connection breaks. */
    private static boolean isClosedWhileDripping(PlainConnection connection) {
        long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        try {
            while (System.nanoTime() < end) {
                connection.send("x");
                LockSupport.parkNanos(50_000_000);
            }
            return false;
        } catch (IOException closed) {
            return true;
        }
    }

    @Test
    void closesTheConnectionOfAPeerThatSaysNothing() throws IOException {
        try (var connection = new PlainConnection(demo.server().port())) {
            assertThat(connection.head()).isEmpty();
        }
    }

    /** The engine's steps take at least 10 ms, so that the answer would take 8 seconds, and the peer may take one. */
    @Test
    void breaksOffAnAnswerThatNobodyTakes() throws IOException {
        var engine = HookedEngine.open(
                EngineConfig.of(DemoServer.demo()),
                () -> LockSupport.parkNanos(Duration.ofMillis(10).toNanos()));
        try (var slow = new DemoServer(ASKED_SLOWLY, engine);
                var connection = PlainConnection.withoutRoom(slow.server().port())) {
            connection.post(
                    "/v1/chat/completions",
                    STORY.formatted(8).replace("\"stream\"", "\"logprobs\":true,\"top_logprobs\":20,\"stream\""),
                    "");
            DemoServer.await(() -> engine.status().running() > 0);

            DemoServer.await(() -> engine.status().running() == 0);

            assertThat(engine.status().totals().generatedTokens()).isLessThan(8 * TOKENS);
            assertThat(engine.status().usedPages()).isZero();
        }
    }

    @Test
    void waitsForAnAnswerThatTakesLongerThanAPeerMay() {
        try (var paced = new DemoServer(ASKED_SLOWLY, new Pace())) {
            paced.pace().slow(Duration.ofMillis(100)); // four seconds, of which a peer may be silent for three
            var answer = paced.post("/v1/chat/completions", STORY.formatted(4).replace("" + TOKENS, "40"));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).endsWith("data: [DONE]\n\n");
        }
    }

    @Test
    void letsAConnectionOfHttp2BeSilentBetweenRequests() {
        try (var client = HttpClient.newHttpClient()) {
            var request =
                    java.net.http.HttpRequest.newBuilder(demo.at("/version")).build();
            for (int time = 0; time < 3; time++) {
                LockSupport.parkNanos(time == 0 ? 0 : 1_200_000_000L); // longer than a head may take
                var answer = client.sendAsync(request, java.net.http.HttpResponse.BodyHandlers.ofString())
                        .join();
                assertThat(answer.statusCode()).isEqualTo(200);
            }
        }
    }
}
