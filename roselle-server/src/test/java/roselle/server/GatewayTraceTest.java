package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.GatewayOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Conversations of several turns, with system prompts that several of them share, over four servers: how much of their prompts was
 * found, against a router that knows all (one server, which has whatever anyone has computed) and against taking turns.
 */
@Tag("long")
final class GatewayTraceTest {
    private static final int SERVERS = 4;
    private static final int CONVERSATIONS = 6;
    private static final int TURNS = 8;
    private static final int AT_A_TIME = 3;
    private final HttpClient client = HttpClient.newHttpClient();
    private int runs;

    /** What came of a run. */
    private record Outcome(long prompt, long cached, List<Double> firstMillis) {
        double share() {
            return (double) cached / prompt;
        }

        double firstMillis(double quantile) {
            List<Double> sorted = firstMillis.stream().sorted().toList();
            return sorted.get((int) Math.ceil(quantile * sorted.size()) - 1);
        }

        String describe(String name) {
            return "%s: %.1f %% of %d prompt tokens found; first token p50 %.1f ms, p90 %.1f ms"
                    .formatted(name, 100 * share(), prompt, firstMillis(0.5), firstMillis(0.9));
        }
    }

    private record Turn(String answer, long prompt, long cached, double firstMillis) {}

    @Test
    void findsWhatARouterThatKnowsAllWouldFind() throws Exception {
        List<DemoServer> servers = new ArrayList<>();
        try {
            IntStream.range(0, SERVERS).forEach(_ -> servers.add(server()));
            List<URI> uris = servers.stream().map(each -> each.server().uri()).toList();
            run(2, turn -> uris.get(turn % SERVERS)); // the first answers of a JVM are slow
            Outcome all = run(CONVERSATIONS, _ -> uris.getFirst());
            var next = new AtomicInteger();
            Outcome turns = run(CONVERSATIONS, _ -> uris.get(next.getAndIncrement() % SERVERS));
            Outcome ours;
            try (var gateway = Server.gateway(
                    ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), GatewayOptions.of(uris))) {
                ours = run(CONVERSATIONS, _ -> gateway.uri());
            }
            System.out.println(all.describe("one server") + "\n" + turns.describe("taking turns") + "\n"
                    + ours.describe("gateway"));

            assertThat(ours.share()).as("against a router that knows all").isGreaterThanOrEqualTo(0.95 * all.share());
            assertThat(ours.prompt() - ours.cached())
                    .as("tokens computed, against taking turns")
                    .isLessThan((turns.prompt() - turns.cached()) / 2);
        } finally {
            servers.forEach(DemoServer::close);
            client.shutdownNow();
        }
    }

    private static DemoServer server() {
        return new DemoServer(Engine.open(EngineConfig.of(DemoServer.demo())
                .with(new DeviceOptions("cpu", 1))
                .with(new BatchOptions(0, 32, 512, 0, 64))));
    }

    /** Holds the conversations; the prompts of earlier runs are found by nobody. */
    private Outcome run(int conversations, IntFunction<URI> server) throws Exception {
        String salt = "run " + runs++;
        List<Turn> all = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(AT_A_TIME)) {
            List<Future<List<Turn>>> held = new ArrayList<>();
            for (int number = 0; number < conversations; number++) {
                int own = number;
                held.add(threads.submit(() -> converse(own, salt, server)));
            }
            for (Future<List<Turn>> each : held) {
                all.addAll(each.get());
            }
        }
        return new Outcome(
                all.stream().mapToLong(Turn::prompt).sum(),
                all.stream().mapToLong(Turn::cached).sum(),
                all.stream().map(Turn::firstMillis).toList());
    }

    private List<Turn> converse(int number, String salt, IntFunction<URI> server)
            throws IOException, InterruptedException {
        ObjectNode body = DemoServer.MAPPER.createObjectNode();
        body.put("max_tokens", 8).put("ignore_eos", true).put("stream", true).put("cache_salt", salt);
        body.putObject("stream_options").put("include_usage", true);
        ArrayNode messages = body.putArray("messages");
        add(
                messages,
                "system",
                ("You tell stories to children. Story number " + number % 3 + " is about a cat and a dog. ")
                        .repeat(18));
        List<Turn> turns = new ArrayList<>();
        for (int turn = 0; turn < TURNS; turn++) {
            add(
                    messages,
                    "user",
                    "What did number " + number + " do in part " + turn
                            + "? Tell me about the house, the tree, the river and all of their friends. ");
            turns.add(ask(server.apply(turns.size()), body.toString()));
            add(messages, "assistant", turns.getLast().answer());
        }
        return turns;
    }

    private static void add(ArrayNode messages, String role, String content) {
        messages.addObject().put("role", role).put("content", content);
    }

    private Turn ask(URI server, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(server.resolve("/v1/chat/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        long begin = System.nanoTime();
        var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        double firstMillis = 0;
        var text = new StringBuilder();
        JsonNode usage = DemoServer.MAPPER.createObjectNode();
        try (var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("data: {")) {
                    firstMillis = firstMillis == 0 ? (System.nanoTime() - begin) / 1e6 : firstMillis;
                    JsonNode event = DemoServer.json(line.substring("data: ".length()));
                    text.append(event.at("/choices/0/delta/content").asString(""));
                    usage = event.path("usage").isObject() ? event.path("usage") : usage;
                }
            }
        }
        long cached = usage.at("/prompt_tokens_details/cached_tokens").asLong();
        return new Turn(text.toString(), usage.path("prompt_tokens").asLong(), cached, firstMillis);
    }
}
