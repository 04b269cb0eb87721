package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
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
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;

/** By which names a server may be called, and from which pages. */
final class HostAndOriginTest {
    private static final String FRIEND = "https://chat.example";

    private static DemoServer strict;
    private static DemoServer friendly;

    @BeforeAll
    static void start() {
        strict = new DemoServer();
        friendly = new DemoServer(ServerConfig.DEFAULT.with(
                AccessOptions.DEFAULT.withHosts(List.of("llm.example")).withOrigins(List.of(FRIEND))));
    }

    @AfterAll
    static void stop() {
        strict.close();
        friendly.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:8000",
                "localhost.",
                "a.localhost:1",
                "127.0.0.1",
                "127.0.0.1:65535",
                "127.1.2.3",
                "[::1]",
                "[::1]:8000"
            })
    void answersToItsOwnNames(String host) throws IOException {
        assertThat(status(strict, "Host: " + host)).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:8000",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "evil.example:127.0.0.1",
                "localhost@evil.example",
                "10.0.0.1",
                "[2001:db8::1]",
                "[::1",
                "[]",
                "0"
            })
    void refusesToBeCalledByAnotherName(String host) throws IOException {
        assertThat(status(strict, "Host: " + host)).isIn(403, 400);
    }

    @Test
    void refusesToBeCalledByNoName() throws IOException {
        assertThat(status(strict, "X-Nothing: 1")).isIn(403, 400);
        assertThat(status(strict, "Host: ")).isIn(403, 400);
    }

    @Test
    void refusesTheSecondOfTwoNames() throws IOException {
        assertThat(status(strict, "Host: localhost\r\nHost: evil.example")).isIn(200, 400, 403);
        assertThat(status(strict, "Host: evil.example\r\nHost: localhost")).isIn(400, 403);
    }

    @Test
    void answersToNamesThatWereAllowed() throws IOException {
        assertThat(status(friendly, "Host: LLM.example:443")).isEqualTo(200);
        assertThat(status(friendly, "Host: xllm.example")).isEqualTo(403);
    }

    @Test
    void answersToAnyNameWhereKeysAreNeededAndOthersReachIt() throws IOException {
        var keys = List.of(new ApiKey("alice", ApiKey.sha256("k"), KeyLimits.DEFAULT));
        assertThat(statusOnAllAddresses(AccessOptions.DEFAULT.withKeys(keys), "llm.example"))
                .isEqualTo(200);
        assertThat(statusOnAllAddresses(
                        AccessOptions.DEFAULT.withKeys(keys).withHosts(List.of("a.example")), "llm.example"))
                .isEqualTo(403);
        var anyone = new AccessOptions(List.of(), true, false, List.of(), List.of());
        assertThat(statusOnAllAddresses(anyone, "llm.example")).isEqualTo(403);
        assertThat(statusOnAllAddresses(anyone, "10.0.0.1")).isEqualTo(200);
    }

    private static int statusOnAllAddresses(AccessOptions access, String host) throws IOException {
        var config = ServerConfig.DEFAULT.with(access).with(new ListenOptions("0.0.0.0", 0));
        try (var engine = roselle.engine.Engine.open(roselle.engine.EngineConfig.of(DemoServer.demo()));
                var server = Server.start(config, new roselle.server.config.ServedModel("demo", engine));
                var connection = new PlainConnection(server.port())) {
            return connection
                    .send("GET /version HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                    .status();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "http://evil.example",
                "https://chat.example.evil.example",
                "http://localhost:1",
                "localhost",
                "https://chat.example:444",
                "*"
            })
    void refusesScriptsOfOtherPages(String origin) throws IOException {
        assertThat(status(friendly, "Host: localhost\r\nOrigin: " + origin)).isEqualTo(403);
        assertThat(status(strict, "Host: localhost\r\nOrigin: " + origin)).isEqualTo(403);
    }

    @Test
    void answersScriptsOfItsOwnPage() throws IOException {
        assertThat(status(strict, "Host: localhost:8000\r\nOrigin: http://localhost:8000"))
                .isEqualTo(200);
    }

    @Test
    void doesNothingForTheFormOfAnotherPage() {
        long before = strict.engine().status().totals().generatedTokens();
        var request = strict.request("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1}")
                .header("origin", "http://evil.example")
                .build();

        var refused = strict.send(request);

        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("origin_not_allowed");
        assertThat(refused.headers().firstValue("access-control-allow-origin")).isEmpty();
        assertThat(strict.engine().status().totals().generatedTokens()).isEqualTo(before);
    }

    @Test
    void answersScriptsOfPagesThatWereAllowedAlsoWithErrors() {
        for (String body : List.of("{\"prompt\":\"a\",\"max_tokens\":1}", "{", "{\"prompt\":\"a\",\"stream\":true}")) {
            var answer = friendly.send(friendly.request("/v1/completions", body)
                    .header("origin", FRIEND)
                    .build());

            assertThat(answer.statusCode()).isIn(200, 400);
            assertThat(answer.headers().allValues("access-control-allow-origin"))
                    .containsExactly(FRIEND);
            assertThat(answer.headers().firstValue("vary")).contains("Origin");
            assertThat(answer.headers()
                            .firstValue("access-control-expose-headers")
                            .orElse(""))
                    .contains("x-request-id");
        }
    }

    @Test
    void tellsABrowserBeforehandWhatMayBeAsked() throws IOException {
        try (var connection = new PlainConnection(friendly.server().port())) {
            String answer = connection
                    .send("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nOrigin: " + FRIEND
                            + "\r\nAccess-Control-Request-Method: POST\r\n"
                            + "Access-Control-Request-Headers: authorization,content-type\r\n\r\n")
                    .head()
                    .toLowerCase(java.util.Locale.ROOT);

            assertThat(answer)
                    .startsWith("http/1.1 204")
                    .contains("access-control-allow-origin: " + FRIEND)
                    .contains("access-control-allow-methods: get, post, delete")
                    .contains("access-control-allow-headers: authorization,content-type");
        }
    }

    @Test
    void takesScriptsOfAllPagesWhenToldTo() {
        var config = ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withOrigins(List.of("*")));
        try (var open = new DemoServer(config)) {
            var answer = open.send(open.request("/tokenize", "{\"prompt\":\"a\"}")
                    .header("origin", "http://any.example")
                    .build());

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("access-control-allow-origin"))
                    .contains("*");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://a/b", "a", "://a", "https://", ""})
    void refusesAnOriginThatIsNone(String origin) {
        assertThatThrownBy(() -> AccessOptions.DEFAULT.withOrigins(List.of(origin)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'" + origin + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://a", "a:80", "a/b", "", "*"})
    void refusesAHostThatIsNone(String host) {
        assertThatThrownBy(() -> AccessOptions.DEFAULT.withHosts(List.of(host)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'" + host + "'");
    }

    private static int status(DemoServer server, String head) throws IOException {
        try (var connection = new PlainConnection(server.server().port())) {
            return connection
                    .send("GET /version HTTP/1.1\r\n" + head + "\r\n\r\n")
                    .status();
        }
    }
}
