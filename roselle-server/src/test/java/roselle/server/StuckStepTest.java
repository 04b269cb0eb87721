package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.server.config.ServerConfig;
import roselle.server.config.WatchOptions;

/** An engine whose step does not end. */
final class StuckStepTest {
    private static final String ONE_TOKEN = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":1}";

    @Test
    void turnsHealthAndReadinessRedUntilItGoesOn() {
        var sticks = new AtomicBoolean();
        var release = new CountDownLatch(1);
        var engine = HookedEngine.open(EngineConfig.of(DemoServer.demo()), () -> stick(sticks, release));
        var config = ServerConfig.DEFAULT.with(new WatchOptions(Duration.ofMillis(1500)));
        try (var demo = new DemoServer(config, engine)) {
            DemoServer.await(() -> demo.get("/health").statusCode() == 200); // the first step loads classes
            DemoServer.await(() -> demo.get("/ready").statusCode() == 200);

            sticks.set(true);
            var answer = demo.client()
                    .sendAsync(
                            demo.request("/v1/chat/completions", ONE_TOKEN).build(),
                            java.net.http.HttpResponse.BodyHandlers.ofString());
            DemoServer.await(() -> demo.get("/ready").statusCode() == 503);

            assertThat(demo.get("/ready").body()).contains("has been in one step for");
            assertThat(demo.get("/health").statusCode()).isEqualTo(503);
            assertThat(demo.get("/health").body()).contains("engine_unavailable", "in one step");
            assertThat(turnSeconds(demo.get("/metrics").body())).isGreaterThan(1.5);

            release.countDown();
            assertThat(answer.join().statusCode()).isEqualTo(200);
            DemoServer.await(() -> demo.get("/ready").statusCode() == 200);
            DemoServer.await(() -> demo.get("/health").statusCode() == 200);
        }
    }

    private static void stick(AtomicBoolean sticks, CountDownLatch release) {
        if (sticks.compareAndSet(true, false)) {
            try {
                release.await();
            } catch (InterruptedException interruption) {
                throw new IllegalStateException(interruption);
            }
        }
    }

    private static double turnSeconds(String metrics) {
        String series = "roselle_engine_turn_seconds{model=\"demo\"} ";
        return metrics.lines()
                .filter(line -> line.startsWith(series))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
                .findFirst()
                .orElseThrow();
    }
}
