package roselle.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.InvalidRequestException;
import roselle.server.Server;
import roselle.server.config.GatewayOptions;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import roselle.server.config.TimeLimits;

/** A gateway before servers whose answers are written here. */
final class GatewayTest {
    private static final String CHAT = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    private static final ServerConfig CONFIG = ServerConfig.DEFAULT
            .with(new ListenOptions("127.0.0.1", 0))
            .with(new LimitOptions(1 << 20, 16 << 10, 0, 64, TimeLimits.DEFAULT));

    private final List<FakeMember> members = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();
    private Gateway gateway;

    @BeforeEach
    void start() throws IOException {
        for (int index = 0; index < 2; index++) {
            members.add(new FakeMember());
        }
        gateway = gateway(members.stream().map(FakeMember::uri).toList());
    }

    private static Gateway gateway(List<URI> members) {
        return Server.gateway(CONFIG, GatewayOptions.of(members).withProbe(Duration.ofMillis(20)));
    }

    @AfterEach
    void stop() {
        gateway.close();
        members.forEach(FakeMember::close);
        client.shutdownNow();
    }

    @Test
    void takesNoMoreClientsThanItHasDescriptorsForWithTheirMembers() {
        LimitOptions fitting = fitting(0, 20_000);

        assertThat(fitting.connections()).isEqualTo(500);
        assertThat(fitting.requests()).isEqualTo(500);
        assertThat(Gateway.fitting(CONFIG.limits(), 1_000_000).requests()).isEqualTo(64);
    }

    @Test
    void whatClientsMayNotTakeIsLeftForRequests() {
        assertThat(fitting(100, 20_000).connections()).isEqualTo(100);
        assertThat(fitting(100, 20_000).requests()).isEqualTo(900);
        assertThat(fitting(100, 300).requests()).isEqualTo(300);
        assertThat(fitting(800, 20_000).requests()).isEqualTo(500);
    }

    private static LimitOptions fitting(int connections, int requests) {
        return Gateway.fitting(new LimitOptions(1 << 20, 16 << 10, connections, requests, TimeLimits.DEFAULT), 1_000);
    }

    private HttpRequest.Builder post(String path, String body) {
        return HttpRequest.newBuilder(gateway.uri().resolve(path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(gateway.uri().resolve(path)));
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited 120 seconds").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private long asked() {
        return members.stream().mapToLong(member -> member.asked.size()).sum();
    }

    @Test
    void passesOnWhatIsAskedAndWhatIsAnswered() throws Exception {
        var answer = send(post("/v1/chat/completions?a=b%20c", CHAT).header("authorization", "Bearer key"));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).startsWith("{\"by\":\"");
        assertThat(answer.headers().firstValue("x-from")).contains("member");
        assertThat(answer.headers().firstValue("content-type")).contains("application/json");
        assertThat(members.stream().flatMap(member -> member.asked.stream()))
                .containsExactly("POST /v1/chat/completions?a=b%20c Bearer key " + CHAT);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 404, 429, 500})
    void passesOnRefusalsAndFailures(int status) throws Exception {
        members.forEach(member ->
                member.behaviour = exchange -> FakeMember.answer(exchange, status, "{\"error\":{\"message\":\"no\"}}"));

        var answer = send(post("/v1/chat/completions", CHAT));

        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).isEqualTo("{\"error\":{\"message\":\"no\"}}");
        assertThat(asked()).as("asked once").isEqualTo(1);
    }

    @Test
    void passesLongAnswersOn() throws Exception {
        String body = "0123456789".repeat(300_000) + "the end";
        members.forEach(member -> member.behaviour = exchange -> FakeMember.answer(exchange, 200, body));

        assertThat(send(post("/v1/completions", "{\"prompt\":\"a\"}")).body()).isEqualTo(body);
    }

    @Test
    void passesLongRequestsOn() throws Exception {
        String body = "{\"prompt\":\"" + "0123456789".repeat(90_000) + "the end\"}";

        for (int index = 0; index < 4; index++) { // also on connections that were kept
            assertThat(send(post("/v1/completions", body)).statusCode()).isEqualTo(200);
        }

        assertThat(members.stream().flatMap(member -> member.asked.stream()))
                .containsOnly("POST /v1/completions null " + body)
                .hasSize(4);
    }

    @Test
    void passesTheHeadOfAnAnswerOnWithoutABody() throws Exception {
        members.forEach(member -> member.behaviour = exchange -> {
            exchange.getResponseHeaders().set("content-length", "7");
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        var head = HttpRequest.newBuilder(gateway.uri().resolve("/v1/models")).HEAD();

        for (int index = 0; index < 4; index++) {
            var answer = send(head);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEmpty();
            assertThat(answer.headers().firstValue("content-length")).contains("7");
        }
        assertThat(asked()).as("each asked once").isEqualTo(4);
    }

    @Test
    void passesPiecesOfAStreamOnAsTheyCome() throws Exception {
        var second = new CountDownLatch(1);
        members.forEach(member -> member.behaviour = exchange -> {
            FakeMember.begin(exchange);
            FakeMember.write(exchange, "data: 1\n\n");
            awaited(second);
            FakeMember.write(exchange, "data: [DONE]\n\n");
            exchange.close();
        });

        var answer = client.send(post("/v1/chat/completions", CHAT).build(), HttpResponse.BodyHandlers.ofInputStream());
        var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));

        assertThat(lines.readLine()).isEqualTo("data: 1");
        second.countDown();
        assertThat(lines.lines().toList()).containsExactly("", "data: [DONE]", "");
        assertThat(answer.headers().firstValue("content-type")).contains("text/event-stream");
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    @Test
    void asksAnotherMemberWhereOneFailsBeforeItsFirstByte() throws Exception {
        var first = new AtomicReference<FakeMember>();
        members.forEach(member -> member.behaviour = exchange -> {
            first.compareAndSet(null, member);
            if (first.get() == member) { // also on a second connection, which is tried where a kept one ends so
                exchange.close();
            } else {
                FakeMember.answer(exchange, 200, "{}");
            }
        });

        assertThat(send(post("/v1/chat/completions", CHAT)).statusCode()).isEqualTo(200);
        assertThat(members).allSatisfy(member -> assertThat(member.asked).isNotEmpty());
        assertThat(get("/metrics").body()).containsPattern("roselle_gateway_failures_total\\{.*reason=\"failed\"} 1.0");
    }

    @Test
    void asksAnotherMemberWhereOneIsFullAndSaysSoWhereAllAre() throws Exception {
        members.get(0).behaviour = exchange -> FakeMember.answer(exchange, 503, "{}");
        for (int index = 0; index < 6; index++) {
            assertThat(send(post("/v1/chat/completions", CHAT)).statusCode()).isEqualTo(200);
        }
        members.get(1).behaviour = exchange -> FakeMember.answer(exchange, 503, "{}");

        var refused = send(post("/v1/chat/completions", CHAT));

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("retry-after")).contains("1");
        assertThat(refused.body()).contains("\"code\":\"overloaded\"", "every member that was asked is full");
    }

    @Test
    void aStreamThatBreaksOffEndsWithAnErrorAndIsNotAskedAgain() throws Exception {
        members.forEach(member -> member.behaviour = exchange -> {
            FakeMember.begin(exchange);
            FakeMember.write(exchange, "data: 1\n\n");
            throw new IOException("the member dies");
        });

        List<String> events = send(post("/v1/chat/completions", CHAT))
                .body()
                .lines()
                .filter(line -> !line.isEmpty())
                .toList();

        assertThat(events).hasSize(2);
        assertThat(events.getLast())
                .startsWith("data: {\"error\":{\"message\":\"the server that was answering has gone");
        assertThat(asked()).isEqualTo(1);
    }

    @Test
    void asksNoMemberThatIsNotReadyAndIsNotReadyWithoutAny() throws Exception {
        members.get(0).isReady = false;
        await(() -> gateway.describe().getFirst().contains("not ready: /ready answers 503"));
        for (int index = 0; index < 4; index++) {
            assertThat(send(post("/v1/chat/completions", CHAT)).statusCode()).isEqualTo(200);
        }
        assertThat(members.get(0).asked).isEmpty();
        assertThat(get("/ready").statusCode()).isEqualTo(200);

        members.get(1).close();
        await(() -> gateway.describe().getLast().contains("not ready"));

        assertThat(get("/ready").statusCode()).isEqualTo(503);
        assertThat(get("/health").statusCode()).isEqualTo(200);
        var refused = send(post("/v1/chat/completions", CHAT));
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("retry-after")).isPresent();
        assertThat(refused.body()).contains("\"code\":\"not_ready\"", "no member is ready");

        members.get(0).isReady = true;
        await(() -> gateway.describe().getFirst().endsWith(" ready"));
        assertThat(send(post("/v1/chat/completions", CHAT)).statusCode()).isEqualTo(200);
    }

    @Test
    void aMemberHearsThatItsClientHasGone() throws Exception {
        var isGone = new CountDownLatch(1);
        members.forEach(member -> member.behaviour = exchange -> {
            FakeMember.begin(exchange);
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    FakeMember.write(exchange, "data: more\n\n");
                    LockSupport.parkNanos(1_000_000);
                }
            } catch (IOException gone) {
                isGone.countDown();
                throw gone;
            }
        });
        var answer = client.send(post("/v1/chat/completions", CHAT).build(), HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream stream = answer.body()) {
            assertThat(stream.read()).isPositive();
        }

        awaited(isGone);
    }

    @Test
    void aConversationGoesToTheMemberThatHasItsBeginning() throws Exception {
        String turn = "{\"role\":\"user\",\"content\":\"" + "Tell me a story. ".repeat(100) + "\"}";
        String messages = turn;
        for (int index = 0; index < 6; index++) {
            String body = "{\"model\":\"m\",\"messages\":[" + messages + "]}";
            assertThat(send(post("/v1/chat/completions", body)).statusCode()).isEqualTo(200);
            messages += "," + turn;
        }
        assertThat(members).filteredOn(member -> !member.asked.isEmpty()).hasSize(1);
        assertThat(get("/metrics").body()).contains("roselle_gateway_prompt_matched_bytes_total ");
    }

    @Test
    void refusesWhatIsTooLargeOrAboutOneMember() throws Exception {
        assertThat(send(post("/v1/completions", "x".repeat((1 << 20) + 1))).statusCode())
                .isEqualTo(413);
        assertThat(send(post("/v1/files", "{}")).body()).contains("is about one member", "\"not_supported\"");
        assertThat(get("/models/load").statusCode()).isEqualTo(400);
        assertThat(send(post("/x", "{}").setHeader("content-type", "application/grpc"))
                        .statusCode())
                .isEqualTo(415);
        assertThat(send(post("/v1/completions", "{}").PUT(HttpRequest.BodyPublishers.ofString("{}")))
                        .statusCode())
                .isEqualTo(405);
        assertThat(send(HttpRequest.newBuilder(URI.create("http://localhost:" + gateway.port() + "/v1/models")))
                        .statusCode())
                .isEqualTo(200);
        assertThat(asked()).isEqualTo(1);
    }

    @Test
    void finishesItsStreamsWhileItEnds() throws Exception {
        var last = new CountDownLatch(1);
        members.forEach(member -> member.behaviour = exchange -> {
            FakeMember.begin(exchange);
            FakeMember.write(exchange, "data: 1\n\n");
            awaited(last);
            FakeMember.write(exchange, "data: [DONE]\n\n");
            exchange.close();
        });
        var answer = client.send(post("/v1/chat/completions", CHAT).build(), HttpResponse.BodyHandlers.ofInputStream());
        var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).isEqualTo("data: 1");

        Thread closing = Thread.ofVirtual().start(gateway::close);
        await(() -> statusOf("/ready") == 503);
        var refused = send(post("/v1/chat/completions", CHAT));
        last.countDown();

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("retry-after")).isPresent();
        assertThat(lines.lines().toList()).contains("data: [DONE]");
        closing.join();
    }

    private int statusOf(String path) {
        try {
            return get(path).statusCode();
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void listensToOthersOnlyWhenToldSo() {
        var open = CONFIG.with(new ListenOptions("0.0.0.0", 0));
        assertThatThrownBy(() -> Server.gateway(open, GatewayOptions.of(List.of(URI.create("http://127.0.0.1:1")))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("--allow-anyone");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://a:1",
                "http://a",
                "a:8000",
                "http://a:1/v1",
                "http://u@a:1",
                "http://a:1?b",
                "http://a:0"
            })
    void refusesWhatIsNoMember(String uri) {
        assertThatThrownBy(() -> GatewayOptions.of(List.of(URI.create(uri))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("write http://HOST:PORT");
    }
}
