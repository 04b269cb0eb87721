package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.server.answer.Admission;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.answer.Readiness;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import roselle.server.http.HttpListener;
import roselle.server.http.JsonFields;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.web.RequestLog;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The OpenAPI document says what encoders are asked and answer: no field more and none less. */
final class EncoderDescriptionTest {
    /**
     * A right request, and what it is answered with.
     *
     * @param answer the name of a schema
     */
    private record Body(String json, String answer) {}

    private static final String RANKED =
            "{\"model\":\"bert-cross\",\"query\":\"a\",\"documents\":[\"a\",{\"text\":\"b\"}]}";
    private static final String RANKS =
            "{\"model\":\"bert-cross\",\"query\":\"a\",\"texts\":[\"a\"],\"return_text\":true}";
    private static final String EMBED =
            "{\"model\":\"bert\",\"texts\":[\"a\"],\"input_type\":\"search_query\",\"embedding_types\":[\"float\",\"base64\"]}";

    private static final Map<String, List<Body>> BODIES = Map.ofEntries(
            Map.entry(
                    "/score",
                    List.of(new Body("{\"model\":\"bert-cross\",\"text_1\":\"a\",\"text_2\":[\"b\"]}", "PairScores"))),
            Map.entry("/classify", List.of(new Body("{\"model\":\"bert-labels\",\"input\":\"a\"}", "Classes"))),
            Map.entry(
                    "/pooling", List.of(new Body("{\"model\":\"bert\",\"input\":\"a\",\"task\":\"embed\"}", "Pooled"))),
            Map.entry("/rerank", List.of(new Body(RANKED, "Reranked"), new Body(RANKS, "TeiRanks"))),
            Map.entry("/v1/rerank", List.of(new Body(RANKED, "Reranked"), new Body(RANKS, "TeiRanks"))),
            Map.entry("/v2/rerank", List.of(new Body(RANKED, "Reranked"), new Body(RANKS, "TeiRanks"))),
            Map.entry("/v2/embed", List.of(new Body(EMBED, "CohereEmbedded"))),
            Map.entry("/embed", List.of(new Body("{\"model\":\"bert\",\"inputs\":\"a\"}", "TeiVectors"))),
            Map.entry(
                    "/predict",
                    List.of(new Body(
                            "{\"model\":\"bert-labels\",\"inputs\":[[\"a\"],[\"a\",\"b\"]]}", "TeiPredictions"))),
            Map.entry("/api/embed", List.of(new Body("{\"model\":\"bert\",\"input\":[\"a\"]}", "OllamaEmbedded"))),
            Map.entry(
                    "/api/embeddings", List.of(new Body("{\"model\":\"bert\",\"prompt\":\"a\"}", "OllamaEmbedding"))));

    private static final BlockingQueue<Set<String>> ASKED = new LinkedBlockingQueue<>();
    private static EncoderServer server;
    private static Description description;
    private static HttpListener listener;

    @BeforeAll
    static void start() {
        server = new EncoderServer("bert", "bert-cross", "bert-labels");
        description = Description.of(server.get("/openapi.json").body());
        var routes = new Routes(Server.STANDARD).intercept((exchange, next) -> {
            List<JsonFields> read = new ArrayList<>();
            exchange.whenRead(read::add);
            next.handle(exchange);
            read.forEach(fields -> ASKED.add(fields.asked()));
        });
        var answers = new Answers(new Models(server.encoders()), Admission.OPEN, Observer.NONE);
        Server.dialects(ServerConfig.DEFAULT, answers, new Readiness(), Optional::empty, new RequestLog())
                .forEach(routes::add);
        listener =
                HttpListener.start(ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), routes, Turns::atOnce);
    }

    @AfterAll
    static void stop() {
        listener.close();
        server.close();
    }

    static Stream<String> paths() {
        return BODIES.keySet().stream().sorted();
    }

    private static List<Body> bodies(String path) {
        return BODIES.getOrDefault(path, List.of());
    }

    @ParameterizedTest
    @MethodSource("paths")
    void hasEveryFieldThatIsReadAndNoOther(String path) throws Exception {
        Set<String> asked = new TreeSet<>();
        try (var client = HttpClient.newHttpClient()) {
            for (Body body : bodies(path)) {
                var request = HttpRequest.newBuilder(java.net.URI.create("http://127.0.0.1:" + listener.port() + path))
                        .POST(HttpRequest.BodyPublishers.ofString(body.json()));
                var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                asked.addAll(ASKED.take());
            }
        }
        Set<String> described = description.fields(description.request(path));
        described.removeIf(field -> field.startsWith("documents[]")); // read without names of fields
        asked.removeIf(field -> field.startsWith("documents[]"));

        assertThat(asked).isEqualTo(described);
    }

    @ParameterizedTest
    @MethodSource("paths")
    void saysWhatAnswersLookLike(String path) {
        for (Body body : bodies(path)) {
            assertThat(description.complaints(description.request(path), DemoServer.json(body.json())))
                    .as(body.json())
                    .isEmpty();
            JsonNode answer = server.ask(path, body.json());
            assertThat(description.complaints(body.answer(), answer))
                    .as(answer.toString())
                    .isEmpty();
        }
    }

    /** What the document forbids, the server refuses: every field with a value of each kind that is none of its own. */
    @ParameterizedTest
    @MethodSource("paths")
    void refusesWhatIsForbidden(String path) {
        for (Body body : bodies(path)) {
            for (String field : description.fields(description.request(path))) {
                if (!field.contains(".") && !field.contains("[")) {
                    refusesWhatIsForbidden(path, DemoServer.json(body.json()).asObject(), field);
                }
            }
        }
    }

    private static void refusesWhatIsForbidden(String path, ObjectNode body, String field) {
        for (String value : List.of("5.5", "{\"a\":1}", "[[null]]", "\"roselle\"")) {
            body.set(field, DemoServer.json(value));
            boolean isForbidden =
                    !description.complaints(description.request(path), body).isEmpty();
            int status = server.post(path, body.toString()).statusCode();
            if (isForbidden) {
                assertThat(status).as(body.toString()).isIn(400, 422);
            } else {
                assertThat(status).as(body.toString()).isIn(200, 400, 404, 422); // a name that there is not, say
            }
        }
    }

    @ParameterizedTest
    @MethodSource("paths")
    void refusalsAreAsDescribed(String path) {
        String failure = path.startsWith("/api/")
                ? "OllamaFailure"
                : switch (path) {
                    case "/embed", "/predict" -> "TeiFailure";
                    case "/score", "/classify", "/pooling" -> "Failure";
                    default -> "CohereFailure";
                };

        assertThat(description.complaints(
                        failure, DemoServer.json(server.post(path, "{}").body())))
                .isEmpty();
    }
}
