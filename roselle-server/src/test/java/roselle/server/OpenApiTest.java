package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.networknt.schema.Schema;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.math.BigDecimal;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.HashMap;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.server.answer.Admission;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.answer.Readiness;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.web.RequestLog;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The OpenAPI document says what the server does: its paths, its fields, its limits, its answers; no more and no less. */
final class OpenApiTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String HELLO = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";

    private static final String MESSAGES = "/v1/messages";
    private static final String COUNT = "/v1/messages/count_tokens";

    /** A conversation with blocks of every kind. */
    private static final String TURNS = """
            "cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],
            "messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]},
             {"role":"assistant","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},
              {"type":"thinking","thinking":"x","signature":"LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="},
              {"type":"tool_use","id":"1","name":"f","input":{},"cache_control":{"type":"ephemeral"}}]},
             {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","cache_control":{"type":"ephemeral"},
              "content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}]""";

    /** A tool that the demo model calls. */
    private static final String WEATHER = """
            "name":"get_weather","description":"The weather in a city now",
            "%s":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}""";

    private static final String TOOLS =
            "[{\"name\":\"f\",\"input_schema\":{},\"cache_control\":{\"type\":\"ephemeral\"}}]";

    private static final String CALL = """
            {"role":"assistant","provider_specific_fields":{},"content":[{"type":"text","text":"x"}],"tool_calls":[{"function":{"name":"f"}}]},
            {"role":"tool","tool_call_id":"1","content":"x"}""";

    private static final String TGI_BODY = """
            {"inputs":"a","parameters":{"max_new_tokens":1,"grammar":{"type":"regex","value":"[ab]"}}}""";

    /** Bodies that together have every object that there is a schema for. */
    private static final Map<String, List<String>> BODIES = joined(
            joined(
                    Map.of(
                            CHAT,
                            List.of("""
                {"messages":[{"role":"system","content":[{"type":"text","text":"x"}]},
                 {"role":"user","content":"x"},
                 {"role":"assistant","provider_specific_fields":{},"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
                 {"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"Hi"}],
                 "tools":[{"type":"function","function":{"name":"f","parameters":{}}}],
                 "stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}},"max_tokens":1}""", """
                {"messages":[{"role":"user","content":"Hi"}],"structured_outputs":{"json_object":true},"max_tokens":1}"""),
                            "/v1/completions",
                            List.of(
                                    "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true,\"stream_options\":{},"
                                            + "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":{}}}}",
                                    "{\"prompt\":\"a\",\"max_tokens\":1,\"structured_outputs\":{\"regex\":\"[ab]\"}}"),
                            "/v1/responses",
                            List.of("""
                {"input":[{"role":"assistant","content":[{"type":"output_text","text":"x","annotations":[],"logprobs":[{}]}]},
                 {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
                 {"type":"reasoning","content":[{"type":"reasoning_text","text":"x"}]},
                 {"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]}],
                 "reasoning":{"effort":"none"},
                 "tools":[{"type":"function","name":"f","parameters":{}}],"text":{"format":{"type":"text"}},
                 "stream":true,"stream_options":{},"max_output_tokens":1}"""),
                            "/v1/embeddings",
                            List.of("{\"input\":\"a\"}"),
                            "/tokenize",
                            List.of(
                                    "{\"prompt\":\"a\"}",
                                    "{\"content\":\"a\"}",
                                    "{"
                                            + HELLO.replace(
                                                    "}]",
                                                    "},{\"role\":\"assistant\",\"provider_specific_fields\":{},\"content\":"
                                                            + "[{\"type\":\"text\",\"text\":\"x\"}],\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]},"
                                                            + "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"x\"}]")
                                            + ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}"),
                            "/detokenize",
                            List.of("{\"tokens\":[1]}"),
                            MESSAGES,
                            List.of(
                                    "{" + TURNS
                                            + ",\"max_tokens\":2000,\"stop_sequences\":[\"a\",\"e\"],\"metadata\":{},"
                                            + "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}}",
                                    "{" + TURNS + ",\"max_tokens\":1,\"stream\":true,\"tools\":" + TOOLS
                                            + ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}}",
                                    "{" + HELLO
                                            + ",\"max_tokens\":1,\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{}}}}"),
                            COUNT,
                            List.of(
                                    "{" + TURNS + ",\"tools\":" + TOOLS
                                            + ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}}",
                                    "{" + HELLO + ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"
                                            + "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{}}}}")),
                    Map.of(
                            "/api/chat",
                            List.of("""
                        {"messages":[{"role":"user","content":"Hi"},
                          {"role":"assistant","thinking":"x","tool_calls":[{"id":"1","function":{"index":0,"name":"f","arguments":{}}}]},
                          {"role":"tool","tool_name":"f","tool_call_id":"1","content":"x"}],
                         "tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"think":true,
                         "options":{"num_predict":1,"stop":["x"]}}"""),
                            "/api/generate",
                            List.of("{\"prompt\":\"a\",\"context\":[1],\"options\":{\"num_predict\":1}}"),
                            "/api/show",
                            List.of("{\"model\":\"demo\"}"),
                            "/api/pull",
                            List.of("{\"model\":\"demo\"}"),
                            "/completion",
                            List.of("{\"prompt\":\"a\",\"n_predict\":1,\"json_schema\":{}}"),
                            "/apply-template",
                            List.of("{"
                                    + HELLO.replace(
                                            "}]",
                                            "}," + CALL
                                                    + "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]")
                                    + "}"),
                            "/generate",
                            List.of(TGI_BODY),
                            "/generate_stream",
                            List.of(TGI_BODY),
                            "/",
                            List.of(TGI_BODY))),
            KserveBodies.WHOLE);

    static <V> Map<String, V> joined(Map<String, V> some, Map<String, V> others) {
        Map<String, V> all = new HashMap<>(some);
        all.putAll(others);
        return all;
    }

    private static final String SHORT_TGI = "{\"inputs\":\"a\",\"parameters\":{\"max_new_tokens\":1}}";

    /** Bodies with nothing but what must be there. */
    private static final Map<String, String> SHORTEST = joined(
            joined(
                    Map.of(
                            CHAT,
                            "{" + HELLO + "}",
                            "/v1/completions",
                            "{\"prompt\":\"a\"}",
                            "/v1/responses",
                            "{\"input\":\"a\"}",
                            "/v1/embeddings",
                            "{\"input\":\"a\"}",
                            "/tokenize",
                            "{\"prompt\":\"a\"}",
                            "/detokenize",
                            "{\"tokens\":[1]}",
                            MESSAGES,
                            "{" + HELLO + ",\"max_tokens\":1}",
                            COUNT,
                            "{" + HELLO + "}"),
                    Map.of(
                            "/api/chat",
                            "{" + HELLO + ",\"stream\":false,\"options\":{\"num_predict\":1}}",
                            "/api/generate",
                            "{\"prompt\":\"a\",\"stream\":false,\"options\":{\"num_predict\":1}}",
                            "/api/show",
                            "{}",
                            "/api/pull",
                            "{\"stream\":false}",
                            "/completion",
                            "{\"prompt\":\"a\",\"n_predict\":1}",
                            "/apply-template",
                            "{" + HELLO + "}",
                            "/generate",
                            SHORT_TGI,
                            "/generate_stream",
                            SHORT_TGI,
                            "/",
                            SHORT_TGI)),
            KserveBodies.SHORTEST);

    private static DemoServer demo;
    private static Description description;
    private static HttpListener listener;
    private static final BlockingQueue<Set<String>> ASKED = new LinkedBlockingQueue<>();

    @BeforeAll
    static void start() {
        demo = new DemoServer();
        description = Description.of(demo);
        var models = new Models(List.of(new ServedModel("demo", demo.engine())));
        var routes = new Routes(Server.STANDARD).intercept((exchange, next) -> {
            List<roselle.server.http.JsonFields> read = new ArrayList<>();
            exchange.whenRead(read::add);
            next.handle(exchange);
            read.forEach(fields -> ASKED.add(fields.asked()));
        });
        var answers = new Answers(models, Admission.OPEN, Observer.NONE);
        Server.dialects(ServerConfig.DEFAULT, answers, new Readiness(), Optional::empty, new RequestLog())
                .forEach(routes::add);
        listener =
                HttpListener.start(ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), routes, Turns::atOnce);
    }

    @AfterAll
    static void stop() {
        listener.close();
        demo.close();
    }

    static Stream<String> paths() {
        return BODIES.keySet().stream().sorted();
    }

    @Test
    void isADocumentOfValidSchemasWhoseReferencesLeadSomewhere() {
        assertThat(description.document().at("/openapi").stringValue()).isEqualTo("3.1.0");
        assertThat(description.schemas()).hasSizeGreaterThan(40);
        for (String name : description.schemas()) {
            assertThat(Description.complaintsAboutSchema(description.schema(name)))
                    .as(name)
                    .isEmpty();
        }
        description.references(reference -> assertThat(
                        description.document().at(reference.substring(1)).isMissingNode())
                .as(reference)
                .isFalse());
        assertThat(description.document().toString()).doesNotContain("$include");
    }

    @Test
    void hasEveryPathOfTheServerAndNoOther() {
        var paths = new TreeSet<>(demo.server().paths());
        paths.removeIf(
                path -> path.startsWith("POST /inference.GRPCInferenceService/")); // OpenAPI has no words for gRPC

        assertThat(description.operations()).isEqualTo(paths);
    }

    @ParameterizedTest
    @MethodSource("paths")
    void hasEveryFieldThatIsReadAndNoOther(String path) throws InterruptedException {
        Set<String> asked = new TreeSet<>();
        for (String body : BODIES.getOrDefault(path, List.of())) {
            assertThat(description.complaints(description.request(path), DemoServer.json(body)))
                    .as(body)
                    .isEmpty();
            var request = HttpRequest.newBuilder(
                            java.net.URI.create("http://127.0.0.1:" + listener.port() + KserveBodies.url(path)))
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
            var response = demo.send(request);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            asked.addAll(ASKED.take());
        }

        assertThat(asked).isEqualTo(description.fields(description.request(path)));
    }

    /** The published schemas, as OpenAI's own client for Java has them. */
    static Stream<Arguments> published() {
        return Stream.of(
                Arguments.of(CHAT, ChatCompletionCreateParams.Body.class),
                Arguments.of("/v1/completions", CompletionCreateParams.Body.class),
                Arguments.of("/v1/responses", ResponseCreateParams.Body.class),
                Arguments.of("/v1/embeddings", EmbeddingCreateParams.Body.class));
    }

    /** What becomes of each of them, {@link #holdsItsLimits} shows. */
    @ParameterizedTest
    @MethodSource("published")
    void hasEveryFieldOfThePublishedSchema(String path, Class<?> body) {
        List<String> names = Stream.of(body.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(JsonProperty.class))
                .map(method -> method.getAnnotation(JsonProperty.class).value())
                .toList();

        assertThat(names).hasSizeGreaterThan(4);
        assertThat(description.fields(description.request(path))).containsAll(names);
    }

    @Test
    void hasTheFieldsThatClientsOfOtherServersSend() {
        for (String path : List.of(CHAT, "/v1/completions", "/v1/responses")) {
            assertThat(description.fields(description.request(path)))
                    .contains("top_k", "min_p", "repetition_penalty", "ignore_eos", "min_tokens", "stop_token_ids")
                    .contains("priority", "cache_salt");
        }
        assertThat(description.fields("ChatRequest")).contains("chat_template_kwargs", "stream", "stop");
    }

    /** A field with a value that is wrong, or at the edge of right. */
    record Probe(String path, String field, String value, boolean isRefused) {}

    static Stream<Probe> probes() {
        List<Probe> probes = new ArrayList<>();
        paths().forEach(path -> description
                .schema(description.request(path))
                .path("properties")
                .properties()
                .forEach(field -> probes.addAll(probes(path, field.getKey(), field.getValue()))));
        return probes.stream();
    }

    private static List<Probe> probes(String path, String field, JsonNode schema) {
        List<Probe> probes = new ArrayList<>();
        wrong(schema).forEach(value -> probes.add(new Probe(path, field, value, true)));
        for (String edge : List.of("minimum", "maximum")) {
            if (schema.has(edge)) {
                BigDecimal bound = schema.get(edge).decimalValue();
                BigDecimal beyond = edge.equals("minimum") ? bound.subtract(BigDecimal.ONE) : bound.add(BigDecimal.ONE);
                probes.add(new Probe(path, field, bound.toPlainString(), false));
                probes.add(new Probe(path, field, beyond.toPlainString(), true));
            }
        }
        return probes;
    }

    /** Values that are not of a schema. */
    private static List<String> wrong(JsonNode schema) {
        Schema compiled = description.compiled(schema);
        return Stream.of("\"roselle\"", "5.5", "true", "{\"a\":1}", "[{}]", "[[null]]")
                .filter(value -> !compiled.validate(DemoServer.json(value)).isEmpty())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("probes")
    void holdsItsLimits(Probe probe) {
        ObjectNode body = DemoServer.json(shortest(probe)).asObject();
        body.set(probe.field(), DemoServer.json(probe.value()));
        boolean isLong = probe.field().equals("max_tokens") || probe.field().startsWith("max_");
        if (!isLong && description.fields(description.request(probe.path())).contains("max_tokens")) {
            body.put("max_tokens", 1);
        } else if (!isLong && probe.path().equals("/v1/responses")) {
            body.put("max_output_tokens", 1);
        } else if (!probe.isRefused() && isLong) {
            body.set("stop", DemoServer.MAPPER.createArrayNode().add("a").add("e"));
        }

        var response = demo.post(KserveBodies.url(probe.path()), body.toString());
        JsonNode error = DemoServer.json(response.body()).at("/error");
        int refusal = body.has("inputs") && !probe.path().startsWith("/v2/")
                ? 422
                : 400; // as Text Generation Inference has it

        if (probe.isRefused()) {
            assertThat(response.statusCode()).as(response.body()).isEqualTo(refusal);
            assertThat(field(error)).as(response.body()).startsWith(probe.field());
            assertThat(message(error)).isNotEqualTo("unknown field " + probe.field());
        } else {
            assertThat(response.statusCode()).as(response.body()).isIn(200, refusal);
            assertThat(error.at("/code").asString("")).as(response.body()).isNotEqualTo("invalid_value");
        }
    }

    /** The field at fault, which is the first word of what is said where there is no other place for it. */
    private static String field(JsonNode error) {
        return error.at("/param").asString(message(error).replaceFirst("^unknown field ", ""));
    }

    private static String message(JsonNode error) {
        return error.isString() ? error.stringValue() : error.at("/message").stringValue();
    }

    /** Fields of a conversation are read where there is one. */
    private static String shortest(Probe probe) {
        boolean isOfConversation = !probe.field().equals("add_special_tokens")
                && description.fields("ChatRequest").contains(probe.field());
        boolean isTokenize = probe.path().equals("/tokenize");
        return SHORTEST.getOrDefault(isTokenize && isOfConversation ? CHAT : probe.path(), "");
    }

    @Test
    void saysWhereABodyMayBeTooLarge() {
        var limits = new LimitOptions(1 << 10, 1 << 14, 0, 8, LimitOptions.DEFAULT.times());
        try (var small = new DemoServer(ServerConfig.DEFAULT.with(limits))) {
            description.document().at("/paths").properties().forEach(path -> {
                boolean takesBody =
                        path.getValue().at("/post/requestBody/content").has("application/json");
                int status = path.getValue().has("post")
                        ? small.post(path.getKey().replaceAll("[{}]", ""), " ".repeat(2000))
                                .statusCode()
                        : 0;
                assertThat(status == 413).as(path.getKey()).isEqualTo(takesBody);
                assertThat(!takesBody || path.getValue().at("/post/responses").has("413"))
                        .as(path.getKey())
                        .isTrue();
            });
        }
    }

    @Test
    void saysWhatAnswersLookLike() {
        String tools = ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}],\"temperature\":0";
        String question = "{\"messages\":[{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}]" + tools;
        requireConforming(
                CHAT, "ChatAnswer", "{" + HELLO + ",\"max_tokens\":3,\"logprobs\":true,\"top_logprobs\":2,\"n\":2}");
        requireConforming(CHAT, "ChatAnswer", question + "}");
        requireConforming("/v1/completions", "Completion", "{\"prompt\":\"a\",\"logprobs\":2,\"echo\":true}");
        requireConforming("/v1/responses", "Response", "{\"input\":\"a\",\"max_output_tokens\":3,\"top_logprobs\":2}");
        requireConforming("/v1/embeddings", "Embeddings", "{\"input\":[\"a\",\"b\"]}");
        requireConforming("/v1/embeddings", "Embeddings", "{\"input\":\"a\",\"encoding_format\":\"base64\"}");
        requireConforming("/tokenize", "Tokens", "{\"prompt\":\"a\",\"return_token_strs\":true}");
        String response = DemoServer.json(demo.post("/v1/responses", "{\"input\":\"a\",\"max_output_tokens\":1}")
                        .body())
                .at("/id")
                .stringValue();
        requireConforming(
                "InputItemList",
                demo.get("/v1/responses/" + response + "/input_items").body());
        requireConforming("/tokenize", "TokensOfContent", "{\"content\":\"a\"}");
        requireConforming("/tokenize", "TokensOfContent", "{\"content\":\"a é\",\"with_pieces\":true}");
        requireConforming("/apply-template", "LlamaCppPrompt", "{" + HELLO + "}");
        requireConforming("LlamaCppSlots", demo.get("/slots").body());
        requireConforming("Sleeping", demo.get("/is_sleeping").body());
        requireConforming("ServerInformation", demo.get("/server_info").body());
        requireConforming("/v1/chat/completions/render", "RenderedPrompt", "{" + HELLO + ",\"stream\":true}");
        requireConforming("/v1/completions/render", "RenderedPrompts", "{\"prompt\":[\"a\",\"b\"]}");
        requireConforming("/detokenize", "DetokenizedText", "{\"tokens\":[1]}");
        requireConforming(CHAT, "Failure", "{}");
        requireConforming(CHAT, "Failure", "{" + HELLO + ",\"model\":\"other\"}");
        requireConforming(MESSAGES, "AnthropicAnswer", "{" + HELLO + ",\"max_tokens\":3}");
        requireConforming(MESSAGES, "AnthropicFailure", "{}");
        requireConforming(MESSAGES, "AnthropicFailure", "{" + HELLO + ",\"max_tokens\":3,\"thread\":{}}");
        requireConforming(COUNT, "AnthropicCount", "{" + HELLO + "}");
        String shortly = ",\"stream\":false,\"options\":{\"num_predict\":3,\"temperature\":0}";
        requireConforming("/api/chat", "OllamaChatLine", "{" + HELLO + ",\"logprobs\":true" + shortly + "}");
        requireConforming("/api/generate", "OllamaGenerateLine", "{\"prompt\":\"a\"" + shortly + "}");
        requireConforming("/api/generate", "OllamaGenerateLine", "{\"stream\":false}");
        requireConforming("/api/chat", "OllamaFailure", "{\"model\":\"other\"}");
        requireConforming("/api/show", "OllamaModel", "{}");
        requireConforming("/api/pull", "OllamaStatus", "{\"stream\":false}");
        requireConforming("/completion", "LlamaCppAnswer", "{\"prompt\":\"a\",\"n_predict\":3,\"n_probs\":2}");
        requireConforming("/completion", "LlamaCppFailure", "{}");
        requireConforming("LlamaCppProperties", demo.get("/props").body());
        String generated = "{\"inputs\":\"a\",\"parameters\":{\"max_new_tokens\":3,\"details\":true,\"top_n_tokens\":2";
        String best = ",\"decoder_input_details\":true,\"best_of\":2,\"do_sample\":true";
        requireConforming("/generate", "TgiAnswer", generated + best + "}}");
        requireConforming("/", "TgiAnswers", generated + "}}");
        requireConforming("/generate", "TgiFailure", "{}");
        requireConforming("TgiInformation", demo.get("/info").body());
        requireConformingKserve();
        requireConforming("OllamaTags", demo.get("/api/tags").body());
        requireConforming("OllamaRunning", demo.get("/api/ps").body());
        requireConforming("ModelList", demo.get("/v1/models").body());
        requireConforming("Model", demo.get("/v1/models/demo").body());
        requireConforming("Status", demo.get("/health").body());
        requireConforming("Status", demo.get("/ready").body());
        requireConforming("Version", demo.get("/version").body());
        requireConforming("Failure", demo.get("/nowhere").body());
    }

    private static void requireConformingKserve() {
        String model = "/v2/models/demo";
        String all =
                "{\"text_input\":\"a\",\"return_finish_reason\":true,\"return_cumulative_logprob\":true,\"return_logprobs\":true,"
                        + "\"return_num_input_tokens\":true,\"return_num_output_tokens\":true,\"parameters\":{\"max_tokens\":3,\"logprobs\":1";
        requireConforming(model + "/generate", "KserveGenerated", all + "}}");
        requireConforming(model + "/generate", "KserveGenerated", all + ",\"n\":2}}");
        requireEvents(model + "/generate_stream", "KserveGenerated", all + ",\"stream\":true}}");
        requireConforming(model + "/generate", "KserveFailure", "{}");
        requireConforming(model + "/infer", "KserveInferred", SHORTEST.getOrDefault(KserveBodies.INFER, ""));
        requireConforming("KserveLive", demo.get("/v2/health/live").body());
        requireConforming("KserveReady", demo.get("/v2/health/ready").body());
        requireConforming("KserveModelReady", demo.get(model + "/ready").body());
        requireConforming("KserveServer", demo.get("/v2").body());
        requireConforming("KserveModel", demo.get(model).body());
        requireConforming("KserveConfiguration", demo.get(model + "/config").body());
        requireConforming("KserveStatistics", demo.get(model + "/stats").body());
        requireConforming(KserveBodies.INDEX, "KserveIndex", "{}");
    }

    @Test
    void saysWhatEventsLookLike() {
        String streams = ",\"stream\":true,\"temperature\":0";
        String usage = ",\"stream_options\":{\"include_usage\":true}";
        requireEvents(
                CHAT, "ChatChunk", "{" + HELLO + ",\"max_tokens\":3,\"logprobs\":true,\"n\":2" + streams + usage + "}");
        requireEvents(
                CHAT, "ChatChunk", "{" + HELLO + ",\"max_tokens\":90,\"reasoning_effort\":\"high\"" + streams + "}");
        requireEvents(
                "/v1/completions", "Completion", "{\"prompt\":[\"a\",\"b\"],\"logprobs\":1" + streams + usage + "}");
        requireEvents("/v1/responses", "ResponseEvent", "{\"input\":\"a\",\"max_output_tokens\":3" + streams + "}");
        String weather =
                "\"What is the weather in Oslo?\",\"tools\":[{\"type\":\"function\",\"name\":\"get_weather\"}]";
        requireEvents("/v1/responses", "ResponseEvent", "{\"input\":" + weather + streams + "}");
        String sum = "\"What is 12 + 30?\",\"reasoning\":{\"effort\":\"high\"}";
        requireEvents(
                "/v1/responses", "ResponseEvent", "{\"input\":" + sum + ",\"max_output_tokens\":90" + streams + "}");
    }

    @Test
    void saysWhatAnthropicsEventsLookLike() {
        String streams = ",\"stream\":true,\"temperature\":0,\"max_tokens\":";
        String weather = "\"messages\":[{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}]";
        String tools = ",\"tools\":[{" + WEATHER.formatted("input_schema") + "}]";
        String thinks = ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}";

        requireEvents(MESSAGES, "AnthropicEvent", "{" + HELLO + streams + "3}");
        requireEvents("/completion", "LlamaCppAnswer", "{\"prompt\":\"a\",\"n_predict\":5,\"stream\":true}");
        String four = ",\"parameters\":{\"max_new_tokens\":4,\"details\":true,\"top_n_tokens\":1}}";
        requireEvents("/generate_stream", "TgiEvent", "{\"inputs\":\"a\"" + four);
        requireEvents(MESSAGES, "AnthropicEvent", "{" + weather + tools + streams + "60}");
        requireEvents(MESSAGES, "AnthropicEvent", "{" + weather + thinks + streams + "2000}");
    }

    @Test
    void saysWhatLinesLookLike() {
        String question = "{\"messages\":[{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}]";
        String tools = ",\"tools\":[{\"type\":\"function\",\"function\":{" + WEATHER.formatted("parameters") + "}}]";
        String greedy = ",\"options\":{\"temperature\":0}}";
        List<String> lines = new ArrayList<>();
        demo.post("/api/chat", question + tools + greedy).body().lines().forEach(lines::add);
        demo.post("/api/chat", question + ",\"think\":true" + greedy)
                .body()
                .lines()
                .forEach(lines::add);

        assertThat(lines).anyMatch(line -> line.contains("tool_calls")).anyMatch(line -> line.contains("thinking"));
        lines.forEach(line -> requireConforming("OllamaChatLine", line));
    }

    private static void requireConforming(String path, String schema, String body) {
        requireConforming(schema, demo.post(path, body).body());
    }

    private static void requireConforming(String schema, String body) {
        assertThat(description.complaints(schema, DemoServer.json(body)))
                .as(body)
                .isEmpty();
    }

    private static void requireEvents(String path, String schema, String body) {
        List<String> data = demo.post(path, body)
                .body()
                .lines()
                .filter(line -> line.startsWith("data: {"))
                .map(line -> line.substring("data: ".length()))
                .toList();
        assertThat(data).hasSizeGreaterThan(3);
        data.forEach(each -> requireConforming(schema, each));
    }
}
