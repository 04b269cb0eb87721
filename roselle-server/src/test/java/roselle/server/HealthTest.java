package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.server.control.ControlDialect;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;

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
    void aListenerThatHasEndedIsNotHealthy() throws Exception {
        var isDeaf = new AtomicBoolean();
        Readiness.Check listening = () -> isDeaf.get() ? Optional.of("the server no longer listens") : Optional.empty();
        try (var demo = new DemoServer()) {
            var models = new Models(List.of(new ServedModel("demo", demo.engine())));
            var dialect = new ControlDialect(models, new Readiness(), listening, Duration.ofMinutes(1));
            var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
            try (var listener = HttpListener.start(config, new Routes(Server.STANDARD).add(dialect), Turns::atOnce)) {
                var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + "/health"))
                        .build();
                assertThat(demo.send(request).statusCode()).isEqualTo(200);
                isDeaf.set(true);
                assertThat(demo.send(request).statusCode()).isEqualTo(503);
                assertThat(demo.send(request).body()).contains("no longer listens");
            }
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
