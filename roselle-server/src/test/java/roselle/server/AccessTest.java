package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.InvalidRequestException;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;

/** A server that asks for API keys, and what each may take. */
final class AccessTest {
    private static final String ALICE = ApiKey.random();
    private static final String POOR = ApiKey.random();
    private static final String SLOW = ApiKey.random();
    private static final String ALONE = ApiKey.random();
    private static final String CHAT =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":%d,\"ignore_eos\":true}";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer(
                ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withKeys(List.of(
                        new ApiKey("alice", ApiKey.sha256(ALICE), KeyLimits.DEFAULT, new KeyRights("", true)),
                        key("poor", POOR, new KeyLimits(1_000, 20, 8)),
                        key("slow", SLOW, new KeyLimits(2, 1_000_000, 8)),
                        key("alone", ALONE, new KeyLimits(1_000, 1_000_000, 1))))),
                new Pace());
        DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static ApiKey key(String name, String secret, KeyLimits limits) {
        return new ApiKey(name, ApiKey.sha256(secret), limits);
    }

    private static int chatStatus(DemoServer asked, String secret) {
        return asked.send(with(asked.request("/v1/chat/completions", CHAT.formatted(1)), "Bearer " + secret))
                .statusCode();
    }

    @Test
    void takesNewKeysAndRemembersWhatTheOldOnesHaveUsed() {
        String fresh = ApiKey.random();
        ApiKey poor = key("poor", POOR, new KeyLimits(1, 1_000_000, 8));
        try (var rotating = new DemoServer(ServerConfig.DEFAULT.with(
                AccessOptions.DEFAULT.withKeys(List.of(key("alice", ALICE, KeyLimits.DEFAULT), poor))))) {
            assertThat(chatStatus(rotating, ALICE)).isEqualTo(200);
            assertThat(chatStatus(rotating, POOR)).isEqualTo(200);

            rotating.server().replaceKeys(List.of(poor, key("fresh", fresh, KeyLimits.DEFAULT)));

            assertThat(chatStatus(rotating, fresh)).isEqualTo(200);
            assertThat(chatStatus(rotating, ALICE)).isEqualTo(401);
            assertThat(chatStatus(rotating, POOR)).isEqualTo(429);
            assertThatThrownBy(() -> rotating.server().replaceKeys(List.of()))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(chatStatus(rotating, ALICE)).isEqualTo(401);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/models",
                "/v1/models/demo",
                "/v1/responses/resp_1",
                "/v1/chat/completions",
                "/tokenize",
                "/dashboard/state",
                "/metrics",
                "/nothing",
                "//health",
                "/health/",
                "/%68ealth",
                "/health;a=b",
                "/web",
                "/v1/%2e%2e/health",
                "//v1/models"
            })
    void asksForAKey(String path) {
        var answer = demo.send(
                HttpRequest.newBuilder(URI.create(demo.server().uri() + path)).build());

        assertThat(answer.statusCode()).isEqualTo(401);
        assertThat(answer.headers().firstValue("www-authenticate")).contains("Bearer");
        assertThat(DemoServer.json(answer.body()).at("/error/code").asString()).isEqualTo("invalid_api_key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/web/app.js", "/health", "/ready", "/version", "/v2/health/live", "/v2/health/ready"})
    void asksForNoneWhereItTellsNothing(String path) {
        assertThat(demo.get(path).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/web/../v1/models",
                "/web/..%2fv1%2fmodels",
                "/web/%2e%2e/dashboard/state",
                "/web//v1/models",
                "/web/v1/models/demo"
            })
    void answersNothingElseBelowThePage(String path) throws IOException {
        try (var connection = connect(demo)) {
            assertThat(connection
                            .send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .status())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/metrics", "/dashboard/state"})
    void tellsWhatAllKeysDoToAnOperatorAlone(String path) {
        var answer = get(path, "Bearer " + ALONE);

        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(DemoServer.json(answer.body()).at("/error/code").asString()).isEqualTo("operator_only");
        assertThat(get(path, "Bearer " + ALICE).statusCode()).isEqualTo(200);
    }

    @Test
    void answersWhoeverBringsAKey() {
        assertThat(get("/v1/models", "Bearer " + ALICE).statusCode()).isEqualTo(200);
        assertThat(get("/metrics", "bearer " + ALICE).statusCode()).isEqualTo(200);
        assertThat(get("/dashboard/state", "Bearer  " + ALICE).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer", "Bearer ", "Basic YTpi", "Bearer rsl-", "Bearer \u00e4", "x"})
    void refusesWhatIsNoKey(String header) {
        assertThat(get("/v1/models", header).statusCode()).isEqualTo(401);
    }

    @Test
    void refusesTheHashOfAKeyAndAKeyWithOneLetterMore() {
        assertThat(get("/v1/models", "Bearer " + ApiKey.sha256(ALICE)).statusCode())
                .isEqualTo(401);
        assertThat(get("/v1/models", "Bearer " + ALICE + "x").statusCode()).isEqualTo(401);
    }

    @Test
    void doesNotReadTheBodyOfAStranger() throws IOException {
        try (var connection = connect(demo)) {
            connection.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n");

            assertThat(connection.status()).isEqualTo(401);
        }
    }

    @Test
    void refusesAKeyOfAMegabyte() throws IOException {
        try (var connection = connect(demo)) {
            connection.sendWhatIsTaken("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + "k".repeat(1 << 20) + "\r\n\r\n");

            assertThat(connection.status()).isBetween(400, 499);
        }
        assertThat(demo.get("/health").statusCode()).isEqualTo(200);
    }

    @Test
    void tellsAKeyWithoutTokensWhenToComeAgain() {
        assertThat(chat(POOR, 30).statusCode()).isEqualTo(200);

        var refused = chat(POOR, 1);

        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(DemoServer.json(refused.body()).at("/error/type").asString()).isEqualTo("tokens");
        assertThat(wait(refused)).isBetween(20L, 120L);
        assertThat(refused.headers().firstValue("x-ratelimit-remaining-tokens")).contains("0");
    }

    @Test
    void tellsAKeyThatAsksTooOftenWhenToComeAgain() {
        assertThat(tokenize(SLOW).statusCode()).isEqualTo(200);
        assertThat(tokenize(SLOW).headers().firstValue("x-ratelimit-remaining-requests"))
                .contains("0");

        var refused = tokenize(SLOW);

        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(wait(refused)).isBetween(1L, 30L);
        assertThat(tokenize(ALICE).statusCode()).isEqualTo(200);
    }

    @Test
    void givesAKeyOnePlaceAtATimeAndTakesItBackWhenItsClientGoes() throws IOException {
        demo.pace().slow(Duration.ofMillis(50)); // an answer that lasts for as long as this looks at it
        try (var connection = connect(demo)) {
            connection.post("/v1/chat/completions", CHAT.formatted(1000), authorization(ALONE));
            DemoServer.await(() -> demo.engine().status().running() > 0);

            assertThat(chat(ALONE, 1).statusCode()).isEqualTo(429);
            assertThat(chat(ALICE, 1).statusCode()).isEqualTo(200);
        }
        DemoServer.await(() -> chat(ALONE, 1).statusCode() == 200);
        demo.pace().go();
    }

    @Test
    void chargesWhatWasBrokenOff() throws IOException {
        String secret = ApiKey.random();
        var config = ServerConfig.DEFAULT.with(
                AccessOptions.DEFAULT.withKeys(List.of(key("hasty", secret, new KeyLimits(1_000, 12, 8)))));
        try (var server = new DemoServer(config, new Pace())) {
            server.pace().slow(Duration.ofMillis(5));
            try (var connection = connect(server)) {
                connection.post("/v1/chat/completions", CHAT.formatted(1000), authorization(secret));
                DemoServer.await(() -> server.engine().status().totals().generatedTokens() > 40);
            }
            DemoServer.await(() -> server.engine().status().running() == 0);
            DemoServer.await(() ->
                    server.send(with(server.request("/tokenize", "{\"prompt\":\"a\"}"), "Bearer " + secret))
                                    .statusCode()
                            == 429);
        }
    }

    @Test
    void isFullWhenAsManyRequestsAsItTakesAreInside() throws IOException {
        var limits = LimitOptions.DEFAULT;
        var config = ServerConfig.DEFAULT.with(
                new LimitOptions(limits.bodyBytes(), limits.headerBytes(), limits.connections(), 1, limits.times()));
        try (var server = new DemoServer(config);
                var connection = connect(server)) {
            connection.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{");
            DemoServer.await(
                    () -> server.post("/tokenize", "{\"prompt\":\"a\"}").statusCode() == 503);

            var refused = server.post("/v1/chat/completions", "not read: { is no JSON");

            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(wait(refused)).isEqualTo(1);
            connection.send("\"prompt\":\"a\"}");
            DemoServer.await(
                    () -> server.post("/tokenize", "{\"prompt\":\"a\"}").statusCode() == 200);
        }
    }

    @Test
    void doesNotListenForOthersWithoutKeysUnlessToldTo() {
        var everywhere = ServerConfig.DEFAULT.with(new ListenOptions("0.0.0.0", 0));

        assertThatThrownBy(everywhere::checked)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("0.0.0.0")
                .hasMessageContaining("--allow-anyone");
        var anyone = new AccessOptions(List.of(), true, false, List.of(), List.of());
        assertThat(everywhere.with(anyone).checked().listen().host()).isEqualTo("0.0.0.0");
        var keyed = AccessOptions.DEFAULT.withKeys(List.of(key("alice", ALICE, KeyLimits.DEFAULT)));
        assertThat(everywhere.with(keyed).checked().access().keys()).hasSize(1);
    }

    private static PlainConnection connect(DemoServer server) throws IOException {
        return new PlainConnection(server.server().port());
    }

    private static String authorization(String secret) {
        return "Authorization: Bearer " + secret + "\r\n";
    }

    private static long wait(HttpResponse<?> refused) {
        return refused.headers().firstValueAsLong("retry-after").orElse(0);
    }

    private static HttpResponse<String> chat(String secret, int tokens) {
        return demo.send(with(demo.request("/v1/chat/completions", CHAT.formatted(tokens)), "Bearer " + secret));
    }

    private static HttpResponse<String> tokenize(String secret) {
        return demo.send(with(demo.request("/tokenize", "{\"prompt\":\"a\"}"), "Bearer " + secret));
    }

    private static HttpResponse<String> get(String path, String authorization) {
        return demo.send(with(HttpRequest.newBuilder(demo.at(path)), authorization));
    }

    private static HttpRequest with(HttpRequest.Builder request, String authorization) {
        return request.header("authorization", authorization).build();
    }
}
