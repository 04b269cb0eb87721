package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.answer.Admission;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.answer.Readiness;
import roselle.server.config.ListenOptions;
import roselle.server.config.LoadNews;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.pool.EnginePool;
import roselle.server.web.RequestLog;

/** Memory for one of two models, whose place the test itself holds until it has heard that a request waits. */
final class LoadNewsTest {
    private static final LoadNews AT_ONCE = new LoadNews(Duration.ofNanos(1), Duration.ofMillis(1));
    private static final LoadNews LATER = new LoadNews(Duration.ofDays(1), Duration.ofDays(1));

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<AutoCloseable> open = new ArrayList<>();
    private int port;

    private EnginePool start(LoadNews news) throws IOException {
        Path file = Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        EngineConfig config = EngineConfig.of(file).with(new BatchOptions(256, 4, 64, 0, 16));
        Path broken = Files.writeString(folder.resolve("broken.gguf"), "this is no model");
        List<PooledModel> members = List.of(
                PooledModel.of("held", config),
                PooledModel.of("wanted", config),
                PooledModel.of("broken", EngineConfig.of(broken)));
        long bytes = Engine.plan(config).totalBytes();
        EnginePool pool = EnginePool.open(new PoolOptions(members, bytes + bytes / 2, Duration.ofHours(1)).with(news));
        open.addFirst(pool);
        var answers = new Answers(new Models(pool), Admission.OPEN, Observer.NONE);
        var routes = new Routes(Server.STANDARD);
        Server.dialects(ServerConfig.DEFAULT, answers, new Readiness(), Optional::empty, new RequestLog())
                .forEach(routes::add);
        var listener =
                HttpListener.start(ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), routes, Turns::atOnce);
        open.addFirst(listener);
        port = listener.port();
        return pool;
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private HttpResponse<Stream<String>> ask(String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(body.replace('\'', '"')))
                .build();
        return client.send(request, BodyHandlers.ofLines());
    }

    /** The next line that is no comment; lines that end events are left out. */
    private static String next(Iterator<String> lines) {
        String line = lines.next();
        while (line.isEmpty() || line.startsWith(":")) {
            line = lines.next();
        }
        return line;
    }

    private static List<String> rest(Iterator<String> lines) {
        var all = new ArrayList<String>();
        lines.forEachRemaining(all::add);
        return all;
    }

    private static final String CHAT = "'messages':[{'role':'user','content':'Tell me a story.'}]";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
                    /v1/chat/completions       | {'model':'wanted','stream':true,'max_tokens':3,CHAT}         | data: {"id":"chatcmpl- | data: [DONE]
                    /v1/completions            | {'model':'wanted','stream':true,'max_tokens':3,'prompt':'a'} | data: {"id":"cmpl- | data: [DONE]
                    /v1/responses              | {'model':'wanted','stream':true,'max_output_tokens':3,'temperature':0,'input':'a'} | event: response.created | "type":"response.incomplete"
                    /v1/messages               | {'model':'wanted','stream':true,'max_tokens':3,CHAT}         | event: message_start | "type":"message_stop"
                    /completion                | {'model':'wanted','stream':true,'n_predict':3,'prompt':'a'}  | data: {"index":0 | "stop":true
                    /generate_stream           | {'model':'wanted','inputs':'a','parameters':{'max_new_tokens':3}} | data: {"index":1 | "generated_text":"
                    /v2/models/wanted/generate_stream | {'text_input':'a','stream':true,'parameters':{'max_tokens':3}} | data: {"model_name":"wanted" | "model_name":"wanted"
                    """)
    void aStreamThatWaitsHearsOfItInComments(String path, String body, String first, String last) throws Exception {
        EnginePool pool = start(AT_ONCE);
        var held = pool.models().use("held", _ -> {});

        var answer = ask(path, body.replace("CHAT", CHAT));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).hasValue("text/event-stream; charset=utf-8");
        Iterator<String> lines = answer.body().iterator();
        List<String> news = new ArrayList<>();
        while (!news.contains(": waiting wanted 0 %")) { // it is on its way, then finds no memory
            news.add(lines.next());
            assertThat(lines.next()).as("an empty line ends what it is").isEmpty();
        }
        assertThat(news).allMatch(line -> line.matches(": (loading|waiting) wanted 0 %"));
        held.close();
        assertThat(next(lines)).startsWith(first);
        List<String> rest = rest(lines);
        assertThat(rest).noneMatch(line -> line.startsWith(":"));
        assertThat(rest.stream().filter(line -> !line.isEmpty()).toList().getLast())
                .contains(last);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
                    /v1/chat/completions       | {'model':'wanted','stream':true,CHAT}                  | data: {"error":{
                    /v1/responses              | {'model':'wanted','stream':true,'input':'a'}           | data: {"error":{
                    /v1/messages               | {'model':'wanted','stream':true,'max_tokens':3,CHAT}   | event: error
                    /completion                | {'model':'wanted','stream':true,'prompt':'a'}          | data: {"error":{
                    /generate_stream           | {'model':'wanted','inputs':'a'}                        | data: {"error":"
                    /v2/models/wanted/generate_stream | {'text_input':'a'}                              | data: {"error":"
                    """)
    void aLoadThatFailsLaterEndsTheStreamByItsError(String path, String body, String error) throws Exception {
        EnginePool pool = start(AT_ONCE);
        var held = pool.models().use("held", _ -> {});
        Iterator<String> lines = ask(path, body.replace("CHAT", CHAT)).body().iterator();
        assertThat(lines.next()).startsWith(": ");

        assertThat(pool.models().remove("wanted")).isTrue();

        String told = next(lines);
        assertThat(told).startsWith(error);
        List<String> rest = new ArrayList<>(List.of(told));
        rest.addAll(rest(lines));
        assertThat(rest).anyMatch(line -> line.startsWith("data: ") && line.contains("is not there any more"));
        held.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLoadThatFailsSoonerKeepsItsStatus(boolean streams) throws Exception {
        start(LATER);

        var answer = ask("/v1/chat/completions", "{'model':'broken','stream':" + streams + "," + CHAT + "}");

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(String.join("", answer.body().toList())).contains("the model broken could not be loaded");
    }

    /** Lines of JSON have no comments, but spaces before a line are none of its text to any reader. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
                    /api/chat     | {'model':'wanted','options':{'num_predict':3},CHAT}
                    /api/generate | {'model':'wanted','options':{'num_predict':3},'prompt':'a'}
                    """)
    void aStreamOfLinesThatWaitsBeginsWithSpaces(String path, String body) throws Exception {
        EnginePool pool = start(AT_ONCE);
        var held = pool.models().use("held", _ -> {});

        var answer = ask(path, body.replace("CHAT", CHAT)); // its head is there before the model is

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).hasValue("application/x-ndjson");
        held.close();
        List<String> lines = answer.body().toList();
        assertThat(lines.getFirst()).startsWith(" ");
        assertThat(lines.stream().skip(1)).noneMatch(line -> line.startsWith(" "));
        assertThat(lines).allMatch(line -> line.strip().startsWith("{\"model\":\"wanted\""));
        assertThat(lines.getLast()).contains("\"done\":true");
    }

    @Test
    void aLoadThatFailsLaterEndsAStreamOfLinesByItsError() throws Exception {
        EnginePool pool = start(AT_ONCE);
        var held = pool.models().use("held", _ -> {});
        var answer = ask("/api/chat", "{'model':'wanted'," + CHAT + "}");

        assertThat(pool.models().remove("wanted")).isTrue();

        List<String> lines = answer.body().toList();
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst().strip()).startsWith("{\"error\":\"").contains("is not there any more");
        held.close();
    }

    @Test
    void aWholeAnswerOfOllamasIsNotInterrupted() throws Exception {
        start(AT_ONCE);

        var answer = ask("/api/chat", "{'model':'wanted','stream':false,'options':{'num_predict':3}," + CHAT + "}");

        assertThat(answer.body().toList()).singleElement().asString().startsWith("{\"model\":\"wanted\"");
    }

    @Test
    void wholeAnswersAreNotInterrupted() throws Exception {
        start(AT_ONCE);

        var answer = ask("/v1/chat/completions", "{'model':'wanted','max_tokens':3," + CHAT + "}");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/json"));
        assertThat(answer.body().toList()).first().asString().startsWith("{");
    }
}
