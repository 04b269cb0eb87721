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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Conversations of several turns, a few at a time, with system prompts that several of them share. */
final class ConversationTrace implements AutoCloseable {
    static final String PATH = "/v1/chat/completions";
    static final int AT_A_TIME = 3;
    static final int TURNS = 8;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicInteger asked = new AtomicInteger();
    private int runs;

    /** How a request gets to a server. */
    interface Route {
        Turn ask(String body) throws IOException, InterruptedException;
    }

    /** One answer: what it says, tokens of its prompt, those of them that were found, and the time until its first event. */
    record Turn(String answer, long prompt, long cached, double firstMillis) {}

    /** An answer broke off that a client had begun to read: nobody may ask again for it. */
    static final class BrokenOffException extends IOException {
        private static final long serialVersionUID = 1;

        BrokenOffException(Throwable cause) {
            super(cause);
        }
    }

    /** What came of a run. */
    record Outcome(long prompt, long cached, List<Double> firstMillis) {
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

    /** Turns that were begun until now, in all runs. */
    int asked() {
        return asked.get();
    }

    /** Holds so many conversations; the prompts of earlier runs are found by nobody. */
    Outcome run(int conversations, Route route) throws Exception {
        String salt = "run " + runs++;
        List<Turn> all = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(AT_A_TIME)) {
            List<Future<List<Turn>>> held = new ArrayList<>();
            for (int number = 0; number < conversations; number++) {
                int own = number;
                held.add(threads.submit(() -> converse(own, salt, route)));
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

    private List<Turn> converse(int number, String salt, Route route) throws IOException, InterruptedException {
        ObjectNode body = DemoServer.MAPPER.createObjectNode();
        body.put("model", "demo").put("max_tokens", 8).put("ignore_eos", true);
        body.put("stream", true).put("cache_salt", salt);
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
            asked.incrementAndGet();
            turns.add(route.ask(body.toString()));
            add(messages, "assistant", turns.getLast().answer());
        }
        return turns;
    }

    private static void add(ArrayNode messages, String role, String content) {
        messages.addObject().put("role", role).put("content", content);
    }

    /** Asks a server, and reads the stream to its end. */
    Turn ask(URI server, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(server.resolve(PATH))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        long begin = System.nanoTime();
        var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (answer.statusCode() == 503) {
            answer.body().close();
            throw new IOException(server + " is full or ends");
        }
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
        } catch (IOException failure) {
            throw firstMillis == 0 ? failure : new BrokenOffException(failure);
        }
        long cached = usage.at("/prompt_tokens_details/cached_tokens").asLong();
        return new Turn(text.toString(), usage.path("prompt_tokens").asLong(), cached, firstMillis);
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
