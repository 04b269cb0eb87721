package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;

/** What {@code /health} says of engines that step, but make no tokens. */
final class HealthTest {
    private static final String ONE_TOKEN =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":1,\"temperature\":0}";

    @Test
    void aStepWhoseAnswersFailedIsNoProofOfLife() {
        var fails = new AtomicBoolean();
        var engine = HookedEngine.openFailing(EngineConfig.of(DemoServer.demo()), fails::get);
        try (var demo = new DemoServer(engine)) {
            DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes

            fails.set(true);
            assertThat(demo.post("/v1/chat/completions", ONE_TOKEN).statusCode())
                    .isGreaterThanOrEqualTo(500);

            var health = demo.get("/health");
            assertThat(health.statusCode()).isEqualTo(503);
            assertThat(health.body()).contains("engine_unavailable", "NaN");

            fails.set(false);
            assertThat(demo.post("/v1/chat/completions", ONE_TOKEN).statusCode())
                    .isEqualTo(200);
            assertThat(demo.get("/health").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void anEngineWithoutMemorySaysSo() {
        var fails = new AtomicBoolean();
        var engine = HookedEngine.open(EngineConfig.of(DemoServer.demo()), () -> {
            if (fails.get()) {
                throw new OutOfMemoryError("planted");
            }
        });
        try (var demo = new DemoServer(engine)) {
            DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes

            fails.set(true);
            var answer = demo.post("/v1/chat/completions", ONE_TOKEN);

            assertThat(answer.statusCode()).isGreaterThanOrEqualTo(500);
            assertThat(demo.get("/health").statusCode()).isEqualTo(503);
            assertThat(demo.get("/health").body()).contains("OutOfMemoryError: planted");
            assertThat(demo.get("/ready").body()).contains("OutOfMemoryError: planted");
            assertThat(demo.get("/version").statusCode()).isEqualTo(200);
        }
    }
}
