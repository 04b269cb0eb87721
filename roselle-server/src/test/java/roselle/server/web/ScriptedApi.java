package roselle.server.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.answer.Observer.Listener;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.openai.common.OpenAiConventions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API as the page uses it, with answers that a test writes: what a model may say is up to the test. */
final class ScriptedApi implements Dialect {
    /** An answer that stays open after its last piece, until the page goes away. */
    static final String STAY = "\u0000stay";
    /** An answer that goes on when the test says so. */
    static final String HOLD = "\u0000hold";
    /** An answer that is refused. */
    static final String REFUSE = "\u0000refuse";
    /** What begins a piece that is a thought. */
    static final String THOUGHT = "\u0000thought ";
    /** What begins a piece that is a call: a name, a space, and arguments. */
    static final String CALL = "\u0000call ";
    /** An answer that fails after its first pieces. */
    static final String BREAK = "\u0000break";

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final GenerationRequest REQUEST = GenerationRequest.builder()
            .prompt(new Prompt.Text("x", false, false))
            .build();

    private final RequestLog log;
    private final ServedModel model;
    private final LinkedBlockingQueue<List<String>> answers = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<JsonNode> requests = new LinkedBlockingQueue<>();
    private volatile boolean needsKey;
    private volatile boolean keepsLog = true;
    private final CountDownLatch gone = new CountDownLatch(1);
    private final CountDownLatch held = new CountDownLatch(1);

    /** The server's log has of each answer a token for each letter of its pieces. */
    ScriptedApi(RequestLog log, ServedModel model) {
        this.log = log;
        this.model = model;
    }

    /** The pieces of the next answer. */
    void next(String... pieces) {
        answers.add(List.of(pieces));
    }

    /** Has the server's log know nothing of answers, as if it were the operators' alone; each then tells of 7 tokens itself. */
    void keepNoLog() {
        keepsLog = false;
    }

    /** Has the page need a key from now on. */
    void needKey() {
        needsKey = true;
    }

    /** Lets an answer go on that is held. */
    void goOn() {
        held.countDown();
    }

    /** The next request that the page sent. */
    JsonNode request() throws InterruptedException {
        JsonNode request = requests.poll(120, TimeUnit.SECONDS);
        if (request == null) {
            throw new AssertionError("the page sent no request");
        }
        return request;
    }

    /** Whether the page has left an answer that stayed open. */
    boolean wasLeft() throws InterruptedException {
        return gone.await(120, TimeUnit.SECONDS);
    }

    @Override
    public void register(Routes routes) {
        routes.get("/v1/models", this::models).post("/v1/chat/completions", this::chat);
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(OpenAiConventions.COMPLETIONS);
    }

    private void models(Exchange exchange) {
        if (needsKey && exchange.requestHeader("authorization").isEmpty()) {
            throw new ApiException(ErrorKind.UNKNOWN_KEY, "an API key is needed");
        }
        exchange.sendJson(
                200,
                new JsonWriter()
                        .object()
                        .array("data")
                        .object()
                        .field("id", "scripted")
                        .endObject()
                        .endArray()
                        .endObject());
    }

    private void chat(Exchange exchange) throws IOException {
        requests.add(MAPPER.readTree(exchange.body()));
        List<String> pieces = new ArrayList<>(answers.remove());
        Listener logged = keepsLog ? log.accepted(exchange, model, REQUEST, 1) : Listener.NONE;
        EventStream events = exchange.stream();
        String reason = "stop";
        for (String piece : pieces) {
            String words = piece.replace(THOUGHT, "");
            if (!words.startsWith("\u0000")) {
                words.chars().forEach(_ -> logged.event(new TokenGenerated(0, 1, "x", "x", List.of())));
            }
            switch (piece) {
                case STAY -> stay(exchange);
                case HOLD -> await(held);
                case REFUSE -> throw ApiException.invalid("seed", "seed is 7: the test wants another");
                case BREAK -> throw new ApiException(ErrorKind.ENGINE_UNAVAILABLE, "the device has failed");
                default -> {
                    if (piece.startsWith(CALL)) {
                        call(events, piece.substring(CALL.length()).split(" ", 2));
                        reason = "tool_calls";
                    } else {
                        chunk(events, piece.equals(words) ? "content" : "reasoning_content", words);
                    }
                }
            }
        }
        JsonWriter chunk = delta(events)
                .endObject()
                .field("finish_reason", reason)
                .endObject()
                .endArray();
        if (!keepsLog) {
            chunk.object("usage")
                    .field("completion_tokens", 7)
                    .field("prompt_tokens", 1)
                    .endObject();
        }
        chunk.endObject();
        events.finish();
    }

    private static void chunk(EventStream events, String field, String piece) throws IOException {
        delta(events)
                .field(field, piece)
                .endObject()
                .nullField("finish_reason")
                .endObject()
                .endArray()
                .endObject();
        events.send();
    }

    /** In two chunks: the name, then the arguments. */
    private static void call(EventStream events, String[] words) throws IOException {
        for (boolean isFirst : new boolean[] {true, false}) {
            JsonWriter chunk = delta(events).array("tool_calls").object().field("index", 0);
            if (isFirst) {
                chunk.field("id", "call_" + words[0]).field("type", "function");
            }
            chunk.object("function").field(isFirst ? "name" : "arguments", words[isFirst ? 0 : 1]);
            chunk.endObject()
                    .endObject()
                    .endArray()
                    .endObject()
                    .nullField("finish_reason")
                    .endObject()
                    .endArray()
                    .endObject();
            events.send();
        }
    }

    private static JsonWriter delta(EventStream events) {
        return events.event()
                .object()
                .array("choices")
                .object()
                .field("index", 0)
                .object("delta");
    }

    private void stay(Exchange exchange) {
        exchange.whenGone(gone::countDown);
        await(gone);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }
}
