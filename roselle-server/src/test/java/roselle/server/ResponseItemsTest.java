package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Thoughts and calls are items of their own in a response, whole and streamed, and conversations go on from them. */
final class ResponseItemsTest {
    private static final String TOOLS = """
            "tools":[{"type":"function","name":"get_weather","description":"The weather in a city now",
              "parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}],
            "temperature":0,"max_output_tokens":60""";

    private static final String QUESTION = "{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}";
    private static final String SUM = "\"input\":\"What is 12 + 30?\",\"reasoning\":{\"effort\":\"high\"},"
            + "\"temperature\":0,\"max_output_tokens\":100";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static JsonNode respond(String fields) {
        var response = demo.post("/v1/responses", "{" + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static List<JsonNode> events(String fields) {
        return demo.post("/v1/responses", "{" + fields + ",\"stream\":true}")
                .body()
                .lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> DemoServer.json(line.substring("data: ".length())))
                .toList();
    }

    private static List<JsonNode> of(List<JsonNode> events, String type) {
        return events.stream().filter(event -> type(event).equals(type)).toList();
    }

    private static String type(JsonNode node) {
        return node.at("/type").stringValue();
    }

    private static String joined(List<JsonNode> events, String type) {
        return of(events, type).stream()
                .map(event -> event.at("/delta").stringValue())
                .collect(Collectors.joining());
    }

    private static String result(JsonNode call) {
        return "{\"type\":\"function_call_output\",\"call_id\":\"%s\",\"output\":\"{\\\"temperature\\\": 7}\"}"
                .formatted(call.at("/call_id").stringValue());
    }

    @Test
    void thoughtsComeInOneWordAndGoBackSo() {
        JsonNode thoughts =
                respond(SUM + ",\"include\":[\"reasoning.encrypted_content\"]").at("/output/0");
        String word = thoughts.at("/encrypted_content").stringValue();
        assertThat(word).isNotBlank();
        assertThat(respond(SUM).at("/output/0").has("encrypted_content")).isFalse();

        String head =
                "\"input\":[{\"role\":\"user\",\"content\":\"What is 12 + 30?\"},{\"type\":\"reasoning\",\"summary\":[],";
        String tail =
                "},{\"role\":\"assistant\",\"content\":\"42\"},{\"role\":\"user\",\"content\":\"And 1?\"}],\"max_output_tokens\":5";
        JsonNode encoded = respond(head + "\"encrypted_content\":\"" + word + "\"" + tail);
        JsonNode plain = respond(head + "\"content\":" + thoughts.at("/content") + tail);
        assertThat(encoded.at("/usage/input_tokens")).isEqualTo(plain.at("/usage/input_tokens"));
    }

    @Test
    void aCallIsAnItemOfItsOwn() {
        JsonNode response = respond("\"input\":[" + QUESTION + "]," + TOOLS);

        JsonNode call = response.at("/output/0");
        assertThat(response.at("/output")).hasSize(1);
        assertThat(type(call)).isEqualTo("function_call");
        assertThat(call.at("/name").stringValue()).isEqualTo("get_weather");
        assertThat(DemoServer.json(call.at("/arguments").stringValue())
                        .at("/city")
                        .stringValue())
                .isEqualTo("Oslo");
        assertThat(call.at("/status").stringValue()).isEqualTo("completed");
        assertThat(response.at("/status").stringValue()).isEqualTo("completed");
        assertThat(response.at("/tools/0/strict").booleanValue()).isTrue();
    }

    @Test
    void aConversationGoesOnFromACallKeptOrSentBack() {
        JsonNode first = respond("\"input\":[" + QUESTION + "]," + TOOLS);
        JsonNode call = first.at("/output/0");

        JsonNode kept =
                respond("\"input\":[" + result(call) + "],\"previous_response_id\":" + first.at("/id") + "," + TOOLS);
        JsonNode sentBack = respond("\"input\":[" + QUESTION + "," + call + "," + result(call) + "]," + TOOLS);

        assertThat(kept.at("/output/0/content/0/text").stringValue()).contains("Oslo");
        assertThat(sentBack.at("/output/0/content")).isEqualTo(kept.at("/output/0/content"));
        assertThat(sentBack.at("/usage/input_tokens")).isEqualTo(kept.at("/usage/input_tokens"));
    }

    @Test
    void aCallIsStreamedWithItsArguments() {
        JsonNode whole = respond("\"input\":[" + QUESTION + "]," + TOOLS).at("/output/0");
        List<JsonNode> events = events("\"input\":[" + QUESTION + "]," + TOOLS);

        int size = events.size();
        List<String> types = events.stream().map(ResponseItemsTest::type).toList();
        assertThat(types.subList(0, 3))
                .containsExactly("response.created", "response.in_progress", "response.output_item.added");
        assertThat(types.subList(3, size - 3))
                .hasSizeGreaterThan(2)
                .containsOnly("response.function_call_arguments.delta");
        assertThat(types.subList(size - 3, size))
                .containsExactly(
                        "response.function_call_arguments.done", "response.output_item.done", "response.completed");
        assertThat(joined(events, "response.function_call_arguments.delta"))
                .isEqualTo(whole.at("/arguments").stringValue());
        assertThat(events.get(2).at("/item/arguments").stringValue()).isEmpty();
        assertThat(events.get(size - 2).at("/item"))
                .isEqualTo(events.get(size - 1).at("/response/output/0"));
    }

    @Test
    void thoughtsComeBeforeTheAnswerAndAreCounted() {
        JsonNode response = respond(SUM);

        assertThat(type(response.at("/output/0"))).isEqualTo("reasoning");
        assertThat(response.at("/output/0/content/0/text").stringValue()).isNotBlank();
        assertThat(type(response.at("/output/1"))).isEqualTo("message");
        assertThat(response.at("/output/1/content/0/text").stringValue()).contains("42");
        assertThat(response.at("/usage/output_tokens_details/reasoning_tokens").intValue())
                .isPositive();
        assertThat(response.at("/reasoning/effort").stringValue()).isEqualTo("high");
    }

    @Test
    void thoughtsAreStreamedAsTheyAreThought() {
        JsonNode whole = respond(SUM);
        List<JsonNode> events = events(SUM);

        assertThat(joined(events, "response.reasoning_text.delta"))
                .isEqualTo(whole.at("/output/0/content/0/text").stringValue());
        assertThat(joined(events, "response.output_text.delta"))
                .isEqualTo(whole.at("/output/1/content/0/text").stringValue());
        assertThat(of(events, "response.reasoning_text.delta")).hasSizeGreaterThan(3);
        assertThat(of(events, "response.output_item.added")
                        .getLast()
                        .at("/output_index")
                        .intValue())
                .isEqualTo(1);
        for (int index = 0; index < events.size(); index++) {
            assertThat(events.get(index).at("/sequence_number").intValue()).isEqualTo(index);
        }
    }

    @Test
    void thoughtsAndCallsOfOneTurnAreOneMessageOfTheTemplate() {
        String thought = "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],"
                + "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"Ask.\"}]}";
        String calls = "{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\"},"
                + "{\"type\":\"function_call\",\"call_id\":\"2\",\"name\":\"g\",\"arguments\":\"{}\",\"parsed_arguments\":{}}";
        JsonNode response =
                respond("\"input\":[" + QUESTION + "," + thought + "," + calls + "],\"max_output_tokens\":1");
        String chat = "{\"messages\":[" + QUESTION + ",{\"role\":\"assistant\",\"content\":\"\","
                + "\"reasoning_content\":\"Ask.\",\"tool_calls\":["
                + "{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
                + "{\"id\":\"2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}]}";

        JsonNode tokens = DemoServer.json(demo.post("/tokenize", chat).body());

        assertThat(response.at("/usage/input_tokens")).isEqualTo(tokens.at("/count"));
    }

    @Test
    void logprobsAreThoseOfTheMessageAlone() {
        JsonNode response = respond(SUM + ",\"include\":[\"message.output_text.logprobs\"]");

        JsonNode part = response.at("/output/1/content/0");
        String told = part.at("/logprobs")
                .valueStream()
                .map(each -> each.at("/token").stringValue())
                .collect(Collectors.joining());
        assertThat(told).isEqualTo(part.at("/text").stringValue());
    }
}
