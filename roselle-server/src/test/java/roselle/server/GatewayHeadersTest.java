package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.InvalidRequestException;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.HookedEngine;
import roselle.server.config.AccessOptions;
import roselle.server.config.GatewayTrust;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** What a gateway says of a request in headers: honoured where it is trusted, and nowhere else. */
final class GatewayHeadersTest {
    private static final String TENANT = "x-llm-d-inference-fairness-id";
    private static final String OBJECTIVE = "x-llm-d-inference-objective";
    private static final String FIRST_TOKEN = "x-llm-d-slo-ttft-ms";
    private static final String LONG_PROMPT =
            "Once upon a time there was a little girl who lived in a house. ".repeat(4);

    private static DemoServer trusting;

    @BeforeAll
    static void start() {
        var pace = new Pace();
        var trust = new GatewayTrust(true, Map.of("interactive", 100));
        trusting = new DemoServer(
                ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withGateway(trust)),
                HookedEngine.open(EngineConfig.of(DemoServer.demo()).with(new BatchOptions(0, 1, 512, 0, 64)), pace),
                pace);
    }

    @AfterAll
    static void stop() {
        trusting.close();
    }

    private static HttpRequest request(DemoServer demo, int tokens, String prompt, String... headers) {
        String body = "{\"prompt\":\"" + prompt + "\",\"max_tokens\":" + tokens + ",\"ignore_eos\":true}";
        HttpRequest.Builder request = demo.request("/v1/completions", body);
        return headers.length == 0 ? request.build() : request.headers(headers).build();
    }

    private static int cached(DemoServer demo, String prompt, String... headers) {
        JsonNode answer =
                DemoServer.json(demo.send(request(demo, 1, prompt, headers)).body());
        return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }

    @Test
    void tenantsShareNoPrefixesWhereTheGatewayTellsThemApart() {
        assertThat(cached(trusting, LONG_PROMPT, TENANT, "one")).isZero();
        assertThat(cached(trusting, LONG_PROMPT, TENANT, "one")).isPositive();
        assertThat(cached(trusting, LONG_PROMPT, TENANT, "two")).isZero();
        assertThat(cached(trusting, LONG_PROMPT, "x-gateway-inference-fairness-id", "two"))
                .isPositive();
    }

    @Test
    void believesNobodyUnlessToldSo() {
        try (var plain = new DemoServer()) {
            assertThat(cached(plain, LONG_PROMPT, TENANT, "one")).isZero();
            assertThat(cached(plain, LONG_PROMPT, TENANT, "two")).isPositive();
            assertThat(plain.send(request(plain, 1, "a", FIRST_TOKEN, "soon")).statusCode())
                    .isEqualTo(200);
            assertThat(plain.get("/metrics").body()).doesNotContain("roselle_slo_requests");
        }
    }

    @Test
    void whoIsWantedSoonerPassesThoseThatWait() {
        trusting.pace().slow(Duration.ofMillis(20));
        var running = send(request(trusting, 900, "a"));
        awaitRequests(1, 0);
        var patient = send(request(trusting, 300, "b"));
        awaitRequests(1, 1);
        var urgent = send(request(trusting, 2, "c", FIRST_TOKEN, "1000"));
        awaitRequests(1, 2);
        running.cancel(true);
        trusting.pace().slow(Duration.ofMillis(2));

        passes(urgent, patient);
    }

    @Test
    void anObjectiveOfAHigherPriorityTakesThePlaceOfOthers() {
        trusting.pace().slow(Duration.ofMillis(2));
        var patient = send(request(trusting, 900, "b"));
        awaitRequests(1, 0);

        passes(send(request(trusting, 2, "c", OBJECTIVE, "interactive")), patient);
    }

    @Test
    void aLowerPriorityTakesThePlaceOfOthersAsInVllm() {
        trusting.pace().slow(Duration.ofMillis(2));
        var patient = send(request(trusting, 900, "b"));
        awaitRequests(1, 0);
        String body = "{\"prompt\":\"c\",\"max_tokens\":2,\"ignore_eos\":true,\"priority\":-1}";

        passes(send(trusting.request("/v1/completions", body).build()), patient);
    }

    private static void passes(
            CompletableFuture<HttpResponse<String>> urgent, CompletableFuture<HttpResponse<String>> patient) {
        assertThat(urgent.join().statusCode()).isEqualTo(200);
        assertThat(patient).as("hundreds of steps of 2 ms after it").isNotDone();
        trusting.pace().go();
        assertThat(patient.join().statusCode()).isEqualTo(200);
    }

    private static CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
        return trusting.client().sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void awaitRequests(int running, int waiting) {
        DemoServer.await(() -> trusting.engine().status().running() == running
                && trusting.engine().status().waiting() == waiting);
    }

    @Test
    void tellsWhichObjectivesWereMet() {
        assertThat(trusting.send(request(trusting, 4, "d", FIRST_TOKEN, "3600000", "x-llm-d-slo-tpot-ms", "3600000"))
                        .statusCode())
                .isEqualTo(200);
        DemoServer.await(() -> {
            String text = trusting.get("/metrics").body();
            return text.contains("roselle_slo_requests_total{met=\"true\",model=\"demo\",slo=\"ttft\"}")
                    && text.contains("roselle_slo_requests_total{met=\"true\",model=\"demo\",slo=\"tpot\"}");
        });
    }

    @ParameterizedTest
    @CsvSource({
        FIRST_TOKEN + ",soon",
        FIRST_TOKEN + ",0",
        FIRST_TOKEN + ",-5",
        FIRST_TOKEN + ",3600001",
        FIRST_TOKEN + ",99999999999999999999",
        "x-llm-d-slo-tpot-ms,1.5"
    })
    void refusesWhatIsNoTime(String header, String value) {
        HttpResponse<String> answer = trusting.send(request(trusting, 1, "e", header, value));

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(answer.body()).at("/error/message").asString())
                .isEqualTo(
                        header + " is " + value + ": it must be a whole number of milliseconds between 1 and 3600000");
    }

    @Test
    void refusesANameThatIsTooLong() {
        HttpResponse<String> answer = trusting.send(request(trusting, 1, "e", TENANT, "x".repeat(257)));

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains(TENANT + " has 257 characters: it may have 256");
        assertThat(trusting.engine().status().running()).isZero();
    }

    @Test
    void objectivesNeedTrust() {
        assertThatThrownBy(() -> new GatewayTrust(false, Map.of("a", 1)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("--trust-gateway");
        assertThatThrownBy(() -> new GatewayTrust(true, Map.of("a", 1001)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("between -1000 and 1000");
    }
}
