package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.cuda.FakeDriver;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.FakeDriver.Fault;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.tensor.DataType;

/** A GPU whose kernel fails in the midst of a batch. */
final class FailedDeviceTest {
    private static final String MANY_TOKENS =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":400,\"ignore_eos\":true}";
    private static final String STREAM = MANY_TOKENS.replace("{\"messages\"", "{\"stream\":true,\"messages\"");

    static List<Fault> faults() {
        return List.of(Fault.ILLEGAL_ADDRESS, Fault.LAUNCH_FAILED);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void failsWhatIsInFlightTurnsHealthRedAndRefusesTheRest(Fault fault) throws Exception {
        var driver = new FakeDriver(Card.HOPPER);
        var engine = HookedEngine.open(EngineConfig.of(DemoServer.demo()), driver.open(DataType.BF16));
        try (var demo = new DemoServer(engine)) {
            DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes
            driver.failAfter("cuEventSynchronize", 60, fault); // where the host learns of it
            var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
            for (String body : List.of(MANY_TOKENS, STREAM, MANY_TOKENS, STREAM)) {
                var request = demo.request("/v1/chat/completions", body).build();
                answers.add(demo.client().sendAsync(request, BodyHandlers.ofString()));
            }
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                HttpResponse<String> failed = answer.get(120, TimeUnit.SECONDS);
                assertThat(failed.body()).contains("\"error\"").contains(fault.name());
                assertThat(failed.body()).doesNotContain("[DONE]").doesNotContain("\tat ");
            }
            assertThat(demo.get("/health").statusCode()).isEqualTo(503);
            assertThat(demo.get("/health").body()).contains("engine_unavailable");
            assertThat(demo.get("/ready").statusCode()).isEqualTo(503);
            HttpResponse<String> later = demo.post("/v1/chat/completions", MANY_TOKENS);
            assertThat(later.statusCode()).isIn(500, 503);
            assertThat(later.body()).contains(fault.name());
        }
        assertThat(driver.leaks()).isEmpty();
    }
}
