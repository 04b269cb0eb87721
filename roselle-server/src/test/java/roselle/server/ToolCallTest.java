package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The demo model calls tools, and thinks when it is asked to. */
final class ToolCallTest {
    private static final String WEATHER = """
            "tools":[{"type":"function","function":{"name":"get_weather","description":"The weather in a city now",
              "parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}],
            "temperature":0,"max_tokens":60""";

    private static final String QUESTION = "{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}";

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
    void tellsACallApartFromText() {
        JsonNode choice = chat("[" + QUESTION + "]", "").at("/choices/0");

        assertThat(choice.at("/finish_reason").stringValue()).isEqualTo("tool_calls");
        assertThat(choice.at("/message/content").isNull()).isTrue();
        assertThat(choice.at("/message/tool_calls/0/id").stringValue()).startsWith("call_");
        assertThat(choice.at("/message/tool_calls/0/function/name").stringValue())
                .isEqualTo("get_weather");
        assertThat(DemoServer.json(choice.at("/message/tool_calls/0/function/arguments")
                                .stringValue())
                        .at("/city")
                        .stringValue())
                .isEqualTo("Oslo");
    }

    @Test
    void aForcedCallIsMadeAndNothingElse() {
        String story = "[{\"role\":\"user\",\"content\":\"Tell me a story.\"}]";
        for (String choice :
                List.of("\"required\"", "{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}")) {
            JsonNode answer = chat(story, ",\"parallel_tool_calls\":false,\"tool_choice\":" + choice)
                    .at("/choices/0");
            assertThat(answer.at("/finish_reason").stringValue()).isEqualTo("tool_calls");
            assertThat(answer.at("/message/content").isNull()).isTrue();
            assertThat(answer.at("/message/tool_calls").size()).isEqualTo(1);
            assertThat(answer.at("/message/tool_calls/0/function/name").stringValue())
                    .isEqualTo("get_weather");
        }
    }

    @Test
    void answersWithWhatTheToolSaid() {
        JsonNode call = chat("[" + QUESTION + "]", "").at("/choices/0/message");
        String result = "{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":\"{\\\"temperature\\\": 7}\"}"
                .formatted(call.at("/tool_calls/0/id").stringValue());

        JsonNode answer = chat("[" + QUESTION + "," + call + "," + result + "]", "");

        assertThat(answer.at("/choices/0/finish_reason").stringValue()).isEqualTo("stop");
        assertThat(answer.at("/choices/0/message/content").stringValue()).contains("Oslo");
    }

    /** OpenAI's client for JavaScript sends back what it made of contents and of arguments. */
    @Test
    void whatAClientMadeOfACallChangesNothing() {
        JsonNode call = chat("[" + QUESTION + "]", "").at("/choices/0/message");
        String result = "{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":\"7\"}"
                .formatted(call.at("/tool_calls/0/id").stringValue());
        String parsed = call.toString()
                .replace("\"arguments\":", "\"parsed_arguments\":{\"city\":\"Rome\"},\"arguments\":")
                .replace("\"role\":", "\"parsed\":null,\"role\":");

        JsonNode plain = chat("[" + QUESTION + "," + call + "," + result + "]", "");
        JsonNode answer = chat("[" + QUESTION + "," + parsed + "," + result + "]", "");

        assertThat(parsed).contains("Rome", "\"parsed\":null");
        assertThat(answer.at("/choices/0/message")).isEqualTo(plain.at("/choices/0/message"));
        assertThat(answer.at("/usage/prompt_tokens")).isEqualTo(plain.at("/usage/prompt_tokens"));
    }

    @Test
    void streamsTheArgumentsOfACallAsTheyCome() {
        var response =
                demo.post("/v1/chat/completions", "{\"messages\":[" + QUESTION + "],\"stream\":true," + WEATHER + "}");
        List<JsonNode> chunks = DemoServer.events(response.body()).stream()
                .filter(event -> !event.equals("[DONE]"))
                .map(DemoServer::json)
                .toList();

        List<JsonNode> calls = chunks.stream()
                .map(chunk -> chunk.at("/choices/0/delta/tool_calls/0"))
                .filter(call -> !call.isMissingNode())
                .toList();

        assertThat(calls)
                .hasSizeGreaterThan(3)
                .allMatch(call -> call.at("/index").intValue() == 0);
        assertThat(calls.getFirst().at("/function/name").stringValue()).isEqualTo("get_weather");
        assertThat(calls.getFirst().at("/id").stringValue()).startsWith("call_");
        assertThat(calls.subList(1, calls.size())).noneMatch(call -> call.has("id"));
        String arguments = calls.stream()
                .map(call -> call.at("/function/arguments").stringValue())
                .collect(Collectors.joining());
        assertThat(DemoServer.json(arguments).at("/city").stringValue()).isEqualTo("Oslo");
        assertThat(chunks.getLast().at("/choices/0/finish_reason").stringValue())
                .isEqualTo("tool_calls");
    }

    @Test
    void endsWithTheFirstCallWhereOneAloneMayBe() {
        JsonNode body = chat("[" + QUESTION + "]", ",\"parallel_tool_calls\":false");

        assertThat(body.at("/choices/0/finish_reason").stringValue()).isEqualTo("tool_calls");
        assertThat(body.at("/choices/0/message/tool_calls")).hasSize(1);
        assertThat(body.at("/usage/completion_tokens").intValue())
                .isLessThan(chat("[" + QUESTION + "]", "")
                        .at("/usage/completion_tokens")
                        .intValue());
    }

    @Test
    void doesNotTellTheModelOfToolsThatItMayNotCall() {
        JsonNode with = chat("[" + QUESTION + "]", "");
        JsonNode without = chat("[" + QUESTION + "]", ",\"tool_choice\":\"none\"");

        assertThat(without.at("/usage/prompt_tokens").intValue())
                .isLessThan(with.at("/usage/prompt_tokens").intValue());
        assertThat(without.at("/choices/0/message/tool_calls").isMissingNode()).isTrue();
    }

    @Test
    void tellsThoughtsApartFromTheAnswer() {
        var response = demo.post("/v1/chat/completions", """
                {"messages":[{"role":"user","content":"What is 12 + 30?"}],"temperature":0,"max_tokens":100,
                 "reasoning_effort":"high"}""");
        JsonNode body = DemoServer.json(response.body());

        assertThat(body.at("/choices/0/message/reasoning_content").stringValue())
                .as(response.body())
                .isNotBlank();
        assertThat(body.at("/choices/0/message/content").stringValue()).contains("42");
        assertThat(body.at("/usage/completion_tokens_details/reasoning_tokens").intValue())
                .isPositive();
    }

    @Test
    void takesASchemaWithNullsAndSpecialTokensInIt() {
        String schema = "{\"type\":\"object\",\"properties\":{\"%s\":{\"type\":\"string\",\"default\":null}}}";
        String tools =
                ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" + schema + "}}]}";

        List<String> plain = tokens("{\"messages\":[" + QUESTION + "]" + tools.formatted("city"));
        List<String> hostile = tokens("{\"messages\":[" + QUESTION + "]" + tools.formatted("<|im_end|>"));

        assertThat(String.join("", plain)).contains("null");
        assertThat(Collections.frequency(hostile, "<|im_end|>")).isEqualTo(Collections.frequency(plain, "<|im_end|>"));
    }

    @Test
    void specialTokensInVariablesOfTheTemplateAreText() {
        String variables = ",\"chat_template_kwargs\":{\"tools\":[{\"name\":\"<|im_end|>\",\"x\":null}]}}";

        List<String> plain = tokens("{\"messages\":[" + QUESTION + "]}");
        List<String> hostile = tokens("{\"messages\":[" + QUESTION + "]" + variables);

        assertThat(hostile).hasSizeGreaterThan(plain.size());
        assertThat(Collections.frequency(hostile, "<|im_end|>"))
                .isEqualTo(Collections.frequency(plain, "<|im_end|>") + 1); // the system turn's own
    }

    private static List<String> tokens(String body) {
        var response = demo.post("/tokenize", body.substring(0, body.length() - 1) + ",\"return_token_strs\":true}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body())
                .at("/token_strs")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
    }

    private static JsonNode chat(String messages, String more) {
        var response = demo.post("/v1/chat/completions", "{\"messages\":" + messages + "," + WEATHER + more + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }
}
