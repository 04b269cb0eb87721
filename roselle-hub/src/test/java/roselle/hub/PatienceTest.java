package roselle.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.hub.http.HubClock;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubException.Kind;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.hub.request.TransferOptions;
import roselle.testing.LoopbackHub;

/** A hub that makes its clients wait is told of, and has the time that one gives it; the clock here is the test's. */
class PatienceTest {
    private static final HubName NAME = HubName.parse("hf:org/name");

    @TempDir
    private Path cache = Path.of("");

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> told = Collections.synchronizedList(new ArrayList<>());
    private final HubClock clock = new HubClock() {
        @Override
        public long nanos() {
            return nanos.get();
        }

        @Override
        public void sleep(Duration time) {
            nanos.addAndGet(time.toNanos());
        }
    };
    private final PullObserver observer = new PullObserver() {
        @Override
        public void asking(String host, HubName name) {
            told.add("asking for " + name);
        }

        @Override
        public void pausing(String failure, Duration pause) {
            told.add(failure.replaceFirst("127.0.0.1:[0-9]+", "hub") + ", " + pause.toSeconds() + " s");
        }
    };

    private LoopbackHub hub;

    @BeforeEach
    void start() throws IOException {
        hub = new LoopbackHub()
                .with("config.json", "{\"model_type\":\"llama\"}")
                .with("model.safetensors", "x");
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    @Test
    void tellsOfEachPauseThatAHubAsksFor() {
        var requests = new AtomicInteger();
        hub.misbehavingWhenAsked((exchange, _) -> requests.incrementAndGet() <= 2 && busy(exchange, "40"));
        try (var client = new Hub(config(), clock)) {
            client.pull(client.plan(NAME, observer), observer);
        }
        assertThat(told)
                .containsExactly(
                        "asking for " + NAME,
                        "org/name at main: hub answers 429, 40 s",
                        "org/name at main: hub answers 429, 40 s");
        assertThat(Duration.ofNanos(nanos.get())).isEqualTo(Duration.ofSeconds(80));
    }

    @Test
    void endsBeforeAPauseForWhichThereIsNoTime() {
        hub.misbehavingWhenAsked((exchange, _) -> {
            nanos.addAndGet(Duration.ofSeconds(50).toNanos());
            return busy(exchange, "3600");
        });
        assertGivesUp("the hub has not told within 5 minutes what org/name has");
        assertThat(told).hasSize(3); // asked at 0, 110 and 220 s: no pause of a minute is left at 270 s
    }

    @Test
    void endsWhenPagesWithoutEndComeSlowly() {
        hub.misbehavingWhenAsked((exchange, _) -> {
            if (!exchange.getRequestURI().getPath().contains("/tree/")) {
                return false;
            }
            nanos.addAndGet(Duration.ofSeconds(29).toNanos());
            exchange.getResponseHeaders().set("Link", "<" + exchange.getRequestURI() + ">; rel=\"next\"");
            byte[] none = "[]".getBytes(StandardCharsets.UTF_8);
            hub.send(exchange, 200, none, 0, none.length);
            return true;
        });
        assertGivesUp("the hub has not told within 5 minutes what org/name has");
        assertThat(hub.requests()).hasSize(1 + 11);
    }

    @Test
    void tellsOfPausesWhileFilesAreFetched() {
        var requests = new AtomicInteger();
        hub.misbehaving((exchange, _) -> requests.incrementAndGet() == 1 && busy(exchange, "7"));
        try (var client = new Hub(config(), clock)) {
            client.pull(client.plan(NAME), observer);
        }
        assertThat(told).containsExactly("org/name/config.json: hub answers 429, 7 s");
    }

    private void assertGivesUp(String words) {
        try (var client = new Hub(config(), clock)) {
            assertThatThrownBy(() -> client.plan(NAME, observer))
                    .hasMessageContaining(words)
                    .isInstanceOfSatisfying(
                            HubException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(Kind.TRY_AGAIN));
        }
    }

    private static boolean busy(HttpExchange exchange, String retryAfter) throws IOException {
        exchange.getResponseHeaders().set("Retry-After", retryAfter);
        exchange.sendResponseHeaders(429, -1);
        return true;
    }

    private HubConfig config() {
        Duration machine = Duration.ofMinutes(2); // of the machine's time: only one that stands still exceeds it
        var times = new TransferOptions.Times(
                machine, machine, machine, Duration.ofMillis(1), Duration.ofMinutes(5), Duration.ofMinutes(1));
        return new HubConfig(hub.uri(), Optional.empty(), cache, false, new TransferOptions(times, 4, 1 << 20));
    }
}
