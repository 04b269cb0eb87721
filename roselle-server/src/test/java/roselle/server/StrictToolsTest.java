package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Calls that the model may make are held to their tools, and answers that call nothing to their format. */
final class StrictToolsTest {
    private static final String QUESTION = "{\"role\":\"user\",\"content\":\"What is the weather in Oslo?\"}";
    private static final String STORY = "{\"role\":\"user\",\"content\":\"Tell me a story.\"}";

    /** The model would write Oslo as a city. */
    private static final String WEATHER = """
            {"type":"function","function":{"name":"get_weather","description":"The weather in a city now","strict":%s,
             "parameters":{"type":"object","properties":{"city":{"type":"string","maxLength":3}},"required":["city"]}}}""";

    private static final String TIME = "{\"type\":\"function\",\"function\":{\"name\":\"get_time\"}}";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static JsonNode choice(String message, String strict, String more) {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[" + message + "],\"tools\":[" + WEATHER.formatted(strict)
                        + "],\"temperature\":0,\"max_tokens\":120" + more + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body()).at("/choices/0");
    }

    private static JsonNode arguments(JsonNode choice) {
        return DemoServer.json(
                choice.at("/message/tool_calls/0/function/arguments").stringValue());
    }

    @Test
    void aStrictToolIsCalledAsItsSchemaSays() {
        JsonNode called = choice(QUESTION, "true", "");

        assertThat(called.at("/finish_reason").stringValue()).isEqualTo("tool_calls");
        assertThat(arguments(called).at("/city").stringValue()).hasSizeLessThan(4);
        assertThat(arguments(choice(QUESTION, "false", "")).at("/city").stringValue())
                .as("without strict")
                .isEqualTo("Oslo");
    }

    /** The model would write a city, of which the schema says nothing. */
    @Test
    void aCallHasNoArgumentsButThoseThatItsToolNames() {
        String tools =
                ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"strict\":%s,\"description\":"
                        + "\"The weather in a city now\",\"parameters\":{\"type\":\"object\",\"properties\":{\"c\":{\"type\":"
                        + "\"string\",\"maxLength\":3}}%s}}}]%s,\"parallel_tool_calls\":false";
        for (boolean isForced : new boolean[] {true, false}) {
            String how = isForced
                    ? ",\"tool_choice\":\"required\""
                    : bias(100).replace(",\"parallel_tool_calls\":false", "");
            assertThat(names(tools.formatted(!isForced, ",\"additionalProperties\":true", how)))
                    .as("open, forced: %s", isForced)
                    .contains("city");
            assertThat(names(tools.formatted(!isForced, "", how)))
                    .as("forced: %s", isForced)
                    .isSubsetOf("c");
        }
    }

    private static Collection<String> names(String tools) {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[" + QUESTION + "],\"temperature\":0,\"max_tokens\":120" + tools + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return arguments(DemoServer.json(response.body()).at("/choices/0")).propertyNames();
    }

    @Test
    void aStrictToolNeedNotBeCalled() {
        JsonNode told = choice(STORY, "true", "");

        assertThat(told.at("/message/tool_calls").isMissingNode()).isTrue();
        assertThat(told.at("/message/content").stringValue())
                .isEqualTo(choice(STORY, "false", "").at("/message/content").stringValue());
    }

    @Test
    void thePromptIsTheSame() {
        assertThat(promptTokens("true")).isPositive().isEqualTo(promptTokens("false"));
    }

    private static int promptTokens(String strict) {
        var response = demo.post(
                "/tokenize", "{\"messages\":[" + QUESTION + "],\"tools\":[" + WEATHER.formatted(strict) + "]}");
        return DemoServer.json(response.body()).at("/count").intValue();
    }

    @Test
    void someOfTheToolsMayBeAllowed() {
        for (String name : List.of("get_time", "get_weather")) {
            for (String mode : List.of("auto", "required")) {
                assertThat(called(mode, name)).as(mode).isEqualTo(name);
            }
        }
    }

    /** Has the model call, or never. */
    private static String bias(int bias) {
        int mark = demo.engine().tokenizer().idOf("<|tool_call|>").orElseThrow();
        return ",\"parallel_tool_calls\":false,\"logit_bias\":{\"" + mark + "\":" + bias + "}";
    }

    /** The tool that is called of two, one of which is allowed, by a model that wants to call. */
    private static String called(String mode, String allowed) {
        String choice = ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"" + mode
                + "\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"" + allowed + "\"}}]}}";
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[" + QUESTION + "],\"tools\":[" + WEATHER.formatted("false") + "," + TIME
                        + "],\"temperature\":0,\"max_tokens\":60" + bias(100) + choice + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body())
                .at("/choices/0/message/tool_calls/0/function/name")
                .asString("");
    }

    @Test
    void anAnswerWithAFormatCallsOrKeepsToIt() {
        String format = ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":"
                + "{\"type\":\"object\",\"properties\":{\"fox\":{\"type\":\"boolean\"}},\"required\":[\"fox\"],"
                + "\"additionalProperties\":false}}}";
        JsonNode called = choice(STORY, "true", format + bias(100));
        assertThat(called.at("/finish_reason").stringValue()).isEqualTo("tool_calls");
        assertThat(called.at("/message/content").isNull()).isTrue();
        assertThat(arguments(called).at("/city").stringValue()).hasSizeLessThan(4);

        JsonNode told = choice(STORY, "true", format + bias(-100));
        assertThat(told.at("/finish_reason").stringValue()).isEqualTo("stop");
        assertThat(DemoServer.json(told.at("/message/content").stringValue())
                        .at("/fox")
                        .isBoolean())
                .isTrue();
    }

    @Test
    void aSchemaThatCannotBeKeptToIsRefusedByTheNameOfItsTool() {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[" + QUESTION + "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"paint\","
                        + "\"strict\":true,\"parameters\":{\"properties\":{\"a\":{\"pattern\":\"(\"}}}}}]}");

        assertThat(response.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(response.body()).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo("tools");
        assertThat(error.get("message").stringValue()).contains("paint", "at '/properties/a', keyword 'pattern'");
    }

    @Test
    void aStructuralTagIsKeptTo() {
        String tag =
                "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[{\"type\":\"const_string\","
                        + "\"value\":\"It is \"},{\"type\":\"tag\",\"begin\":\"<n>\",\"content\":{\"type\":\"json_schema\","
                        + "\"json_schema\":{\"enum\":[\"red\",\"blue\"]}},\"end\":\"</n>\"}]}}";
        for (String field :
                List.of("\"response_format\":" + tag, "\"structured_outputs\":{\"structural_tag\":" + tag + "}")) {
            var response = demo.post(
                    "/v1/chat/completions",
                    "{\"messages\":[" + STORY + "],\"temperature\":0,\"max_tokens\":60," + field + "}");
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            assertThat(DemoServer.json(response.body())
                            .at("/choices/0/message/content")
                            .stringValue())
                    .matches("It is <n>\"(red|blue)\"</n>");
        }
        var response = demo.post(
                "/v1/responses",
                "{\"input\":\"Tell me a story.\",\"temperature\":0,\"text\":{\"format\":" + tag + "}}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(DemoServer.json(response.body())
                        .at("/output/0/content/0/text")
                        .stringValue())
                .matches("It is <n>\"(red|blue)\"</n>");
        assertThat(DemoServer.json(response.body()).at("/text/format")).isEqualTo(DemoServer.json(tag));
        var refused = demo.post(
                "/v1/chat/completions",
                "{\"messages\":[" + STORY + "],\"response_format\":" + tag.replace("const_string", "poem") + "}");
        assertThat(refused.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(refused.body()).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo("response_format");
        assertThat(error.get("message").stringValue()).contains("at '/format/elements/0', keyword 'type'", "poem");
    }

    @Test
    void aResponseTellsWhatItsToolsAreHeldTo() {
        var response = demo.post(
                "/v1/responses",
                "{\"input\":\"What is the weather in Oslo?\",\"temperature\":0,\"max_output_tokens\":120,\"tools\":[{\"type\":"
                        + "\"function\",\"name\":\"get_weather\",\"strict\":true,\"parameters\":{\"type\":\"object\",\"properties\":"
                        + "{\"city\":{\"enum\":[\"Rome\"]}},\"required\":[\"city\"]}}],\"tool_choice\":{\"type\":"
                        + "\"allowed_tools\",\"mode\":\"auto\",\"tools\":[{\"type\":\"function\",\"name\":\"get_weather\"}]}}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        JsonNode body = DemoServer.json(response.body());
        assertThat(body.at("/tools/0/strict").booleanValue()).isTrue();
        assertThat(body.at("/tool_choice/type").stringValue()).isEqualTo("allowed_tools");
        JsonNode call = body.at("/output/0");
        assertThat(call.at("/name").stringValue()).as(response.body()).isEqualTo("get_weather");
        assertThat(DemoServer.json(call.at("/arguments").stringValue())
                        .at("/city")
                        .stringValue())
                .isEqualTo("Rome");
    }

    /** As OpenAI has it: left out, it is true in responses, but for a schema that cannot be kept to. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                             | {"enum":["Rome"]}                   | true  | Rome
            "strict":null,   | {"enum":["Rome"]}                   | true  | Rome
            "strict":true,   | {"enum":["Rome"]}                   | true  | Rome
            "strict":false,  | {"enum":["Rome"]}                   | false | Oslo
                             | {"type":"string","pattern":"(?<a"} | false | Oslo
            """)
    void inResponsesStrictLeftOutIsTrueWhereItCanBe(
            @Nullable String said, String city, boolean isStrict, String written) {
        var response = demo.post(
                "/v1/responses",
                "{\"input\":\"What is the weather in Oslo?\",\"temperature\":0,\"max_output_tokens\":120,\"tools\":[{\"type\":"
                        + "\"function\",\"name\":\"get_weather\",\"description\":\"The weather in a city now\","
                        + (said == null ? "" : said) + "\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":"
                        + city
                        + "},\"required\":[\"city\"]}}]}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        JsonNode body = DemoServer.json(response.body());
        assertThat(body.at("/tools/0/strict").booleanValue()).isEqualTo(isStrict);
        assertThat(DemoServer.json(body.at("/output/0/arguments").stringValue())
                        .at("/city")
                        .stringValue())
                .isEqualTo(written);
    }
}
