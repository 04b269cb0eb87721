package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Anthropic's Messages, answered by the demo model. */
final class AnthropicTest {
    private static final String PATH = "/v1/messages";
    private static final String COUNT = "/v1/messages/count_tokens";
    private static final String WEATHER = """
            "tools":[{"name":"get_weather","description":"The weather in a city now",
              "input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]""";
    private static final String QUESTION = "{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}";
    private static final String STORY = "{\"role\":\"user\",\"content\":\"Tell me a story about a fox.\"}";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void answersAConversationWithBlocks() {
        JsonNode message = message(
                STORY,
                ",\"system\":[{\"type\":\"text\",\"text\":\"Be kind.\",\"cache_control\":"
                        + "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}],\"max_tokens\":12");

        assertThat(message.at("/type").stringValue()).isEqualTo("message");
        assertThat(message.at("/id").stringValue()).startsWith("msg_");
        assertThat(message.at("/role").stringValue()).isEqualTo("assistant");
        assertThat(message.at("/model").stringValue()).isEqualTo("demo");
        assertThat(message.at("/content")).hasSize(1);
        assertThat(message.at("/content/0/type").stringValue()).isEqualTo("text");
        assertThat(message.at("/content/0/text").stringValue()).isNotBlank();
        assertThat(message.at("/stop_reason").stringValue()).isEqualTo("max_tokens");
        assertThat(message.at("/stop_sequence").isNull()).isTrue();
        assertThat(message.at("/usage/output_tokens").intValue()).isEqualTo(12);
    }

    @Test
    void saysTheSameAsOtherDialectsOfTheSameConversation() {
        String chat = demo.post(
                        "/v1/chat/completions",
                        "{\"messages\":[" + STORY + "],\"temperature\":0,\"max_completion_tokens\":16}")
                .body();

        assertThat(text(message(STORY, ",\"max_tokens\":16")))
                .isEqualTo(
                        DemoServer.json(chat).at("/choices/0/message/content").stringValue());
    }

    @Test
    void tellsWhatCameFromTheCache() {
        String longSystem = ",\"max_tokens\":1,\"system\":\"" + "Foxes are clever animals. ".repeat(20) + "\"";
        JsonNode first = message(STORY, longSystem).at("/usage");
        JsonNode second = message(STORY, longSystem).at("/usage");

        assertThat(second.at("/cache_read_input_tokens").intValue()).isGreaterThanOrEqualTo(64);
        assertThat(tokens(second)).isEqualTo(tokens(first));
        assertThat(tokens(second))
                .isEqualTo(DemoServer.json(demo.post(
                                        COUNT,
                                        "{\"messages\":[" + STORY + "]" + longSystem.replace(",\"max_tokens\":1", "")
                                                + "}")
                                .body())
                        .at("/input_tokens")
                        .intValue());
    }

    private static int tokens(JsonNode usage) {
        return usage.at("/input_tokens").intValue()
                + usage.at("/cache_read_input_tokens").intValue();
    }

    @Test
    void aStreamTellsTheSameAsTheWhole() {
        List<JsonNode> events = events(STORY, ",\"max_tokens\":12");

        assertThat(types(events).subList(0, 3)).containsExactly("message_start", "ping", "content_block_start");
        assertThat(types(events).subList(events.size() - 3, events.size()))
                .containsExactly("content_block_stop", "message_delta", "message_stop");
        assertThat(deltas(events, "text_delta", "text")).isEqualTo(text(message(STORY, ",\"max_tokens\":12")));
        JsonNode end = events.get(events.size() - 2);
        assertThat(end.at("/delta/stop_reason").stringValue()).isEqualTo("max_tokens");
        assertThat(end.at("/usage/output_tokens").intValue()).isEqualTo(12);
        assertThat(tokens(end.at("/usage")))
                .isEqualTo(events.getFirst().at("/message/usage/input_tokens").intValue());
    }

    @Test
    void endsAtAStopSequenceAndNamesIt() {
        String text = text(message(STORY, ",\"max_tokens\":40"));
        String stop = text.substring(10, 14);

        JsonNode message = message(STORY, ",\"max_tokens\":40,\"stop_sequences\":[\"" + stop + "\",\"none of it\"]");

        assertThat(message.at("/stop_reason").stringValue()).isEqualTo("stop_sequence");
        assertThat(message.at("/stop_sequence").stringValue()).isEqualTo(stop);
        assertThat(text(message)).isEqualTo(text.substring(0, text.indexOf(stop)));
    }

    @Test
    void callsAToolAndAnswersWithItsResult() {
        JsonNode message = message(QUESTION, ",\"max_tokens\":60," + WEATHER);
        JsonNode call = message.at("/content").get(message.at("/content").size() - 1);

        assertThat(message.at("/stop_reason").stringValue()).isEqualTo("tool_use");
        assertThat(call.at("/type").stringValue()).isEqualTo("tool_use");
        assertThat(call.at("/name").stringValue()).isEqualTo("get_weather");
        assertThat(call.at("/input/city").stringValue()).isEqualTo("Oslo");

        String result = "{\"role\":\"assistant\",\"content\":" + message.at("/content")
                + "},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\""
                + call.at("/id").stringValue()
                + "\",\"content\":[{\"type\":\"text\",\"text\":\"{\\\"temperature\\\": 7}\"}]}]}";
        JsonNode answer = message(QUESTION + "," + result, ",\"max_tokens\":60," + WEATHER);

        assertThat(answer.at("/stop_reason").stringValue()).isEqualTo("end_turn");
        assertThat(text(answer)).contains("Oslo");
    }

    @Test
    void streamsTheInputOfACallAsItIsWritten() {
        List<JsonNode> events = events(QUESTION, ",\"max_tokens\":60," + WEATHER);

        JsonNode start = events.stream()
                .filter(event -> event.at("/content_block/type").asString("").equals("tool_use"))
                .findFirst()
                .orElseThrow();
        assertThat(start.at("/content_block/name").stringValue()).isEqualTo("get_weather");
        assertThat(start.at("/content_block/input")).isEmpty();
        assertThat(DemoServer.json(deltas(events, "input_json_delta", "partial_json"))
                        .at("/city")
                        .stringValue())
                .isEqualTo("Oslo");
        assertThat(events.get(events.size() - 2).at("/delta/stop_reason").stringValue())
                .isEqualTo("tool_use");
    }

    @ParameterizedTest
    @CsvSource({"any, ''", "tool, ',\"name\":\"get_weather\"'"})
    void aForcedCallIsMadeAndNothingElse(String type, String name) {
        String choice = ",\"tool_choice\":{\"type\":\"" + type + "\"" + name + ",\"disable_parallel_tool_use\":true}";

        JsonNode message = message(STORY, ",\"max_tokens\":60," + WEATHER + choice);

        assertThat(message.at("/content")).hasSize(1);
        assertThat(message.at("/content/0/name").stringValue()).isEqualTo("get_weather");
    }

    @Test
    void doesNotTellTheModelOfToolsThatItMayNotCall() {
        String with = "{\"messages\":[" + QUESTION + "]," + WEATHER;

        int told = DemoServer.json(demo.post(COUNT, with + "}").body())
                .at("/input_tokens")
                .intValue();
        int untold = DemoServer.json(demo.post(COUNT, with + ",\"tool_choice\":{\"type\":\"none\"}}")
                        .body())
                .at("/input_tokens")
                .intValue();

        assertThat(untold).isLessThan(told);
    }

    @Test
    void callsThatWereCutAreToldAsTheyAre() {
        JsonNode whole = message(QUESTION, ",\"max_tokens\":60," + WEATHER);
        int all = whole.at("/usage/output_tokens").intValue();

        JsonNode cut = message(QUESTION, ",\"max_tokens\":" + (all - 3) + "," + WEATHER);

        assertThat(cut.at("/stop_reason").stringValue()).isEqualTo("max_tokens");
        assertThat(cut.at("/content/0/input/INVALID_JSON").stringValue()).startsWith("{");
    }

    @Test
    void thoughtsAreBlocksWithASignatureThatComesBack() {
        String sum = "{\"role\":\"user\",\"content\":\"What is 12 + 30?\"}";
        String thinks = ",\"max_tokens\":2000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}";
        List<JsonNode> events = events(sum, thinks);
        JsonNode message = message(sum, thinks);

        assertThat(message.at("/content/0/type").stringValue()).isEqualTo("thinking");
        assertThat(text(message)).contains("42");
        assertThat(message.at("/usage/output_tokens_details/thinking_tokens").intValue())
                .isPositive();
        assertThat(deltas(events, "thinking_delta", "thinking"))
                .isEqualTo(message.at("/content/0/thinking").stringValue());
        assertThat(deltas(events, "signature_delta", "signature"))
                .isEqualTo(message.at("/content/0/signature").stringValue())
                .isNotBlank();

        String more = sum + ",{\"role\":\"assistant\",\"content\":" + message.at("/content") + "}," + STORY;
        assertThat(text(message(more, ",\"max_tokens\":4"))).isNotBlank();
        String changed = more.replace("\"thinking\":\"", "\"thinking\":\"No, ");
        assertThat(refusal(changed, ",\"max_tokens\":4")).contains("messages[1].content[0].signature is not of these");
    }

    @Test
    void anEffortAloneSwitchesNoThoughtsOn() {
        String sum = "{\"role\":\"user\",\"content\":\"What is 12 + 30?\"}";
        String low = ",\"output_config\":{\"effort\":\"low\"}";

        JsonNode alone = message(sum, ",\"max_tokens\":60" + low);
        JsonNode adaptive = message(sum, ",\"max_tokens\":2000,\"thinking\":{\"type\":\"adaptive\"}" + low);

        assertThat(alone.at("/content"))
                .isEqualTo(message(sum, ",\"max_tokens\":60").at("/content"));
        assertThat(alone.at("/content/0/type").stringValue()).isEqualTo("text");
        assertThat(adaptive.at("/content/0/type").stringValue()).isEqualTo("thinking");
    }

    @Test
    void doesNotThinkWhereThinkingIsDisabled() {
        String sum = "{\"role\":\"user\",\"content\":\"What is 12 + 30?\"}";

        JsonNode message = message(sum, ",\"max_tokens\":60,\"thinking\":{\"type\":\"disabled\"}");

        assertThat(message.at("/usage/output_tokens_details/thinking_tokens").intValue())
                .isZero();
    }

    @Test
    void holdsAnAnswerToASchema() {
        String schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"legs\"],"
                + "\"properties\":{\"legs\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":8}}}";
        JsonNode message = message(
                STORY,
                ",\"max_tokens\":60,\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":" + schema
                        + "}}");

        assertThat(DemoServer.json(text(message)).at("/legs").intValue()).isBetween(0, 8);
    }

    @Test
    void whatSaysWhatHappensAnywayIsAccepted() {
        message(
                STORY,
                ",\"max_tokens\":1,\"service_tier\":\"auto\",\"metadata\":{\"user_id\":\"x\"},\"output_config\":{\"effort\":\"high\"},"
                        + "\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"},\"context_management\":"
                        + "{\"edits\":[{\"type\":\"clear_thinking_20251015\",\"keep\":\"all\"}]}");
        assertThat(
                        refusal(
                                STORY,
                                ",\"max_tokens\":1,\"context_management\":{\"edits\":[{\"type\":\"clear_tool_uses_20250919\"}]}"))
                .contains("context_management is");
    }

    @Test
    void goesOnWithWhatTheAssistantHasBegun() {
        String whole = text(message(STORY, ",\"max_tokens\":24"));
        String begun = "{\"role\":\"assistant\",\"content\":\"" + whole.substring(0, 20) + "\"}";

        assertThat(text(message(STORY + "," + begun, ",\"max_tokens\":4"))).isNotBlank();
        assertThat(DemoServer.json(demo.post(COUNT, "{\"messages\":[" + STORY + "," + begun + "]}")
                                .body())
                        .at("/input_tokens")
                        .intValue())
                .isGreaterThan(count(STORY));
    }

    @Test
    void messagesOfOneRoleAreOneTurn() {
        String parts = "{\"role\":\"user\",\"content\":\"Hello.\"},{\"role\":\"user\",\"content\":\"Tell me.\"}";
        String blocks = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hello.\"},"
                + "{\"type\":\"text\",\"text\":\"Tell me.\"}]}";
        String joined = "{\"role\":\"user\",\"content\":\"Hello.\\n\\nTell me.\"}";

        assertThat(count(parts)).isEqualTo(count(joined));
        assertThat(count(blocks)).isEqualTo(count(joined));
    }

    @Test
    void asManyTokensAsTheContextHasLeftAreAnAnswer() {
        int context = demo.engine().context();
        String lasting = "{\"role\":\"user\",\"content\":\"" + "word ".repeat(context / 2) + "\"}";

        JsonNode message = message(lasting, ",\"max_tokens\":" + (context - 1));

        assertThat(message.at("/stop_reason").stringValue()).isIn("model_context_window_exceeded", "end_turn");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"top_k\":-1 | top_k is -1",
                "\"seed\":1 | unknown field seed",
                "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5} | thinking.budget_tokens is 5",
                "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9000} | thinking.budget_tokens is 9000: it must be less",
                "\"thinking\":{\"type\":\"between_tools\"} | thinking.type is between_tools",
                "\"thinking\":{\"type\":\"adaptive\",\"display\":\"omitted\"} | thinking.display is",
                "\"output_config\":{\"effort\":\"none\"} | output_config.effort is none",
                "\"output_config\":{\"format\":{\"type\":\"text\"}} | output_config.format.type is text",
                "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}] | tools[0].type is web_search_20250305",
                "\"tools\":[{\"name\":\"f\"}] | tools[0].input_schema is missing",
                "\"tool_choice\":{\"type\":\"some\"} | tool_choice.type is some",
                "\"cache_control\":{\"type\":\"lasting\"} | cache_control.type is lasting",
                "\"mcp_servers\":[{\"name\":\"x\"}] | mcp_servers is",
                "\"container\":\"x\" | container is",
                "\"service_tier\":\"priority\" | service_tier is",
                "\"system\":[{\"type\":\"image\"}] | system[0].type is image",
            })
    void refusesByNameWhatItDoesNotHonour(String field, String said) {
        assertThat(refusal(STORY, ",\"max_tokens\":2," + field)).contains(said);
    }

    /** Official clients' tool runners begin with a thread, and go on without one where the refusal has these details. */
    @Test
    void saysThatItKeepsNoThreads() {
        var refused = demo.post(PATH, body(STORY, ",\"max_tokens\":2,\"thread\":{\"type\":\"create\"}"));

        assertThat(refused.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(refused.body()).at("/error");
        assertThat(error.at("/message").stringValue()).startsWith("thread is");
        assertThat(error.at("/details").toString())
                .isEqualTo("{\"error_code\":\"thread_unsupported_request\",\"unsupported\":[\"thread\"]}");
    }

    @Test
    void refusesBlocksThatItCannotRead() {
        String image = "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{}}]}";
        String lost = "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"x\"}]}";
        String open = STORY + ",{\"role\":\"assistant\",\"content\":"
                + "[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}]}";

        assertThat(refusal(image, ",\"max_tokens\":2")).contains("messages[0].content[0].type is image");
        assertThat(refusal(lost, ",\"max_tokens\":2")).contains("tool_use_id is not of a tool_use before it");
        assertThat(refusal(open, ",\"max_tokens\":2")).contains("a tool_result must follow");
        assertThat(refusal("", ",\"max_tokens\":2")).contains("messages is empty");
        assertThat(refusal(STORY + ",{\"role\":\"assistant\",\"content\":\" \"}", ",\"max_tokens\":2"))
                .contains("ends with a turn of the assistant that says nothing");
        assertThat(refusal("{\"role\":\"user\",\"content\":[]}", ",\"max_tokens\":2"))
                .contains("says nothing");
        assertThat(refusal(STORY, "")).contains("max_tokens is missing");
    }

    @Test
    void errorsHaveTheRequestsId() {
        var response = demo.post(PATH, "{}");
        JsonNode error = DemoServer.json(response.body());

        assertThat(error.at("/type").stringValue()).isEqualTo("error");
        assertThat(error.at("/error/type").stringValue()).isEqualTo("invalid_request_error");
        assertThat(response.headers().firstValue("request-id"))
                .contains(error.at("/request_id").stringValue());
        assertThat(response.headers().firstValue("x-request-id"))
                .isEqualTo(response.headers().firstValue("request-id"));
        JsonNode missing =
                DemoServer.json(demo.post(PATH, "{\"model\":\"claude\",\"max_tokens\":1,\"messages\":[" + STORY + "]}")
                        .body());
        assertThat(missing.at("/error/type").stringValue()).isEqualTo("not_found_error");
    }

    @Test
    void modelsAreInTheFormOfWhoAsks() {
        JsonNode list = DemoServer.json(versioned(demo, "/v1/models?limit=5").body());
        JsonNode one = DemoServer.json(versioned(demo, "/v1/models/demo").body());

        assertThat(list.at("/data/0/type").stringValue()).isEqualTo("model");
        assertThat(list.at("/has_more").booleanValue()).isFalse();
        assertThat(list.at("/last_id").stringValue()).isEqualTo("demo");
        assertThat(one).isEqualTo(list.at("/data/0"));
        assertThat(one.at("/max_input_tokens").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(DemoServer.json(demo.get("/v1/models").body())
                        .at("/data/0/object")
                        .stringValue())
                .isEqualTo("model");
        assertThat(DemoServer.json(versioned(demo, "/v1/models?after_id=demo").body())
                        .at("/data"))
                .isEmpty();
        for (String wrong : List.of("limit=0", "limit=x", "after_id=x", "before_id=demo")) {
            assertThat(versioned(demo, "/v1/models?" + wrong).statusCode())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void whatIsNotThereIsSaidInTheFormOfWhoAsks() {
        var batches = versioned(demo, "/v1/messages/batches");

        assertThat(batches.statusCode()).isEqualTo(404);
        assertThat(DemoServer.json(batches.body()).at("/error/type").stringValue())
                .isEqualTo("not_found_error");
        assertThat(versioned(demo, "/health").statusCode()).isEqualTo(200);
    }

    @Test
    void aKeyComesInEitherHeader() {
        var key = new ApiKey("client", ApiKey.sha256("a-secret"), KeyLimits.DEFAULT);
        var access = AccessOptions.DEFAULT.withKeys(List.of(key));
        try (var closed = new DemoServer(ServerConfig.DEFAULT.with(access))) {
            assertThat(versioned(closed, "/v1/models").statusCode()).isEqualTo(401);
            assertThat(DemoServer.json(versioned(closed, "/v1/models").body())
                            .at("/error/type")
                            .stringValue())
                    .isEqualTo("authentication_error");
            assertThat(versioned(closed, "/v1/models", "x-api-key", "a-secret").statusCode())
                    .isEqualTo(200);
            assertThat(versioned(closed, "/v1/models", "authorization", "Bearer a-secret")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(versioned(closed, "/v1/models", "x-api-key", "other", "authorization", "Bearer a-secret")
                            .statusCode())
                    .isEqualTo(401);
        }
    }

    private static HttpResponse<String> versioned(DemoServer server, String path, String... headers) {
        var request = HttpRequest.newBuilder(server.at(path)).header("anthropic-version", "2023-06-01");
        return server.send((headers.length == 0 ? request : request.headers(headers)).build());
    }

    private static int count(String messages) {
        return DemoServer.json(
                        demo.post(COUNT, "{\"messages\":[" + messages + "]}").body())
                .at("/input_tokens")
                .intValue();
    }

    private static JsonNode message(String messages, String more) {
        var response = demo.post(PATH, body(messages, more));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static String refusal(String messages, String more) {
        var response = demo.post(PATH, body(messages, more));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        return DemoServer.json(response.body()).at("/error/message").stringValue();
    }

    private static String body(String messages, String more) {
        return "{\"messages\":[" + messages + "],\"temperature\":0" + more + "}";
    }

    /** The data of each event, which are named as their type says. */
    private static List<JsonNode> events(String messages, String more) {
        List<JsonNode> events = new ArrayList<>();
        for (String event : demo.post(PATH, body(messages, more + ",\"stream\":true"))
                .body()
                .split("\n\n")) {
            String[] lines = event.split("\n");
            JsonNode data = DemoServer.json(lines[1].substring("data: ".length()));
            assertThat(lines[0]).isEqualTo("event: " + data.at("/type").stringValue());
            events.add(data);
        }
        return events;
    }

    private static List<String> types(List<JsonNode> events) {
        return events.stream().map(event -> event.at("/type").stringValue()).toList();
    }

    private static String deltas(List<JsonNode> events, String type, String field) {
        return events.stream()
                .map(event -> event.at("/delta"))
                .filter(delta -> delta.at("/type").asString("").equals(type))
                .map(delta -> delta.at("/" + field).stringValue())
                .collect(Collectors.joining());
    }

    private static String text(JsonNode message) {
        return message.at("/content")
                .valueStream()
                .map(block -> block.at("/text").asString(""))
                .collect(Collectors.joining());
    }
}
