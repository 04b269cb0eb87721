package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.server.access.HostCheck;
import roselle.server.access.KeyCheck;
import roselle.server.access.LimitedAdmission;
import roselle.server.access.OriginCheck;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.HttpListener;
import roselle.server.http.JsonWriter;
import roselle.server.http.LineFormat;
import roselle.server.http.Quota;
import roselle.server.http.Routes;
import roselle.server.http.StreamFormat;
import roselle.server.http.Turns;
import roselle.server.openai.common.OpenAiConventions;

/** Whatever is said on a dialect's path is said by its conventions, by whichever part of the server. */
final class ConventionsTest {
    private static final String SECRET = "a-secret";
    private static final String ORIGIN = "https://chat.example";

    private static HttpListener listener;
    private static HttpClient client;

    /** Conventions unlike those of any other dialect. */
    private record Terse() implements Conventions {
        @Override
        public ErrorAnswer error(ApiException error, String requestId) {
            int status = error.kind() == ErrorKind.OVERLOADED ? 529 : error.status();
            var body = new JsonWriter()
                    .object()
                    .field("wrong", error.kind().name())
                    .endObject();
            return new ErrorAnswer(status, "terse", "", body);
        }

        @Override
        public Credentials credentials() {
            return new Credentials("X-Api-Key", "");
        }

        @Override
        public StreamFormat streamFormat() {
            return new LineFormat();
        }

        @Override
        public void tell(Exchange exchange, Quota quota) {
            exchange.header("terse-" + quota.unit(), Long.toString(quota.left()));
        }

        @Override
        public List<String> quotaHeaders() {
            return List.of("terse-requests", "terse-tokens");
        }
    }

    private record TerseDialect(LimitedAdmission admission) implements Dialect {
        @Override
        public void register(Routes routes) {
            routes.get("/terse/full", _ -> {
                        throw ApiException.busy(ErrorKind.OVERLOADED, "full", Duration.ofSeconds(1));
                    })
                    .get("/terse/admitted", exchange -> {
                        try (var _ = admission.admit(exchange)) {
                            exchange.sendEmpty(204);
                        }
                    })
                    .get("/terse/stream", exchange -> {
                        exchange.stream()
                                .event("unnamed")
                                .object()
                                .field("a", 1)
                                .endObject();
                        exchange.stream().end();
                        exchange.stream().event().array().endArray();
                        exchange.stream().finish();
                    })
                    .get("/terse/broken", exchange -> {
                        exchange.stream().event().object().endObject();
                        exchange.stream().send();
                        exchange.stream().event().object();
                        throw new ApiException(ErrorKind.ENGINE_UNAVAILABLE, "gone");
                    });
        }

        @Override
        public Optional<Conventions> conventions() {
            return Optional.of(new Terse());
        }
    }

    @BeforeAll
    static void start() {
        var key = new ApiKey("client", ApiKey.sha256(SECRET), KeyLimits.DEFAULT);
        var config = ServerConfig.DEFAULT
                .with(new ListenOptions("127.0.0.1", 0))
                .with(AccessOptions.DEFAULT.withKeys(List.of(key)).withOrigins(List.of(ORIGIN)));
        var routes = new Routes(OpenAiConventions.COMPLETIONS)
                .intercept(new HostCheck(config))
                .intercept(new OriginCheck(config.access()))
                .intercept(new KeyCheck(config.access(), System::nanoTime))
                .add(new TerseDialect(new LimitedAdmission(8, roselle.server.config.GatewayTrust.NONE)))
                .add(routesOfNoApi -> routesOfNoApi.get("/plain", exchange -> exchange.sendEmpty(204)));
        listener = HttpListener.start(config, routes, Turns::atOnce);
        client = HttpClient.newHttpClient();
    }

    @AfterAll
    static void stop() {
        client.close();
        listener.close();
    }

    @Test
    void aRefusalOfAnInterceptorIsInTheDialectsWords() throws Exception {
        var noKey = get("/terse/full");

        assertThat(noKey.statusCode()).isEqualTo(401);
        assertThat(noKey.body()).isEqualTo("{\"wrong\":\"UNKNOWN_KEY\"}");
        assertThat(noKey.headers().firstValue("www-authenticate")).isEmpty();
        assertThat(get("/terse/full", "x-api-key", SECRET, "origin", "https://other.example")
                        .body())
                .isEqualTo("{\"wrong\":\"ORIGIN_NOT_ALLOWED\"}");
    }

    @Test
    void aKeyComesAsTheDialectHasIt() throws Exception {
        assertThat(get("/terse/admitted", "x-api-key", SECRET).statusCode()).isEqualTo(204);
        assertThat(get("/terse/admitted", "authorization", "Bearer " + SECRET).statusCode())
                .isEqualTo(401);
        assertThat(get("/plain", "authorization", "Bearer " + SECRET).statusCode())
                .isEqualTo(204);
        assertThat(get("/plain", "x-api-key", SECRET).statusCode()).isEqualTo(401);
    }

    @Test
    void aStatusMayBeTheDialectsOwn() throws Exception {
        var full = get("/terse/full", "x-api-key", SECRET);

        assertThat(full.statusCode()).isEqualTo(529);
        assertThat(full.headers().firstValue("retry-after")).contains("1");
    }

    @Test
    void limitsAreToldByTheDialectsHeaders() throws Exception {
        var admitted = get("/terse/admitted", "x-api-key", SECRET, "origin", ORIGIN);

        assertThat(admitted.headers().firstValue("terse-requests")).isPresent();
        assertThat(admitted.headers().firstValue("access-control-expose-headers"))
                .contains("x-request-id, retry-after, terse-requests, terse-tokens");
    }

    @Test
    void aStreamIsFramedAsTheDialectHasIt() throws Exception {
        var stream = get("/terse/stream", "x-api-key", SECRET);

        assertThat(stream.headers().firstValue("content-type")).contains("application/x-ndjson");
        assertThat(stream.body()).isEqualTo("{\"a\":1}\n[]\n");
        assertThat(get("/terse/broken", "x-api-key", SECRET).body())
                .isEqualTo("{}\n{\"wrong\":\"ENGINE_UNAVAILABLE\"}\n");
    }

    @Test
    void whatBelongsToNoDialectIsSaidTheServersWay() throws Exception {
        String bearer = "Bearer " + SECRET;

        assertThat(get("/terse", "authorization", bearer).body()).contains("\"code\":\"not_found\"");
        assertThat(get("/plain").body()).contains("\"code\":\"invalid_api_key\"");
        assertThat(send(HttpRequest.newBuilder(at("/terse/full"))
                                .header("x-api-key", SECRET)
                                .DELETE())
                        .body())
                .isEqualTo("{\"wrong\":\"METHOD_NOT_ALLOWED\"}");
    }

    @ParameterizedTest
    @EnumSource
    void openAisErrorObjectHasAllItsFieldsWhateverIsWrong(ErrorKind kind) {
        var answer = OpenAiConventions.COMPLETIONS.error(new ApiException(kind, "a\"b", "why \"so\""), "");
        var error = DemoServer.json(answer.body().toString()).at("/error");

        assertThat(error.propertyNames()).containsExactly("message", "type", "param", "code");
        assertThat(error.at("/message").stringValue()).isEqualTo("why \"so\"");
        assertThat(error.at("/param").stringValue()).isEqualTo("a\"b");
        assertThat(error.at("/type").stringValue()).isEqualTo(answer.type()).isNotEmpty();
        assertThat(answer.status()).isEqualTo(kind.status());
    }

    private static HttpResponse<String> get(String path, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(at(path));
        return send(headers.length == 0 ? request : request.headers(headers));
    }

    private static URI at(String path) {
        return URI.create("http://127.0.0.1:" + listener.port() + path);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
