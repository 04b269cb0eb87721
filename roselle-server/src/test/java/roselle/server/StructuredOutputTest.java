package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Answers over HTTP are as their schemas say, judged by a validator that knows nothing of how they were made. */
final class StructuredOutputTest {
    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final String MESSAGES =
            "\"messages\":[{\"role\":\"user\",\"content\":\"Write.\"}],\"max_tokens\":450";

    /** Then the model does not think first, as it does in one of some draws. */
    private static final String LIKELIEST = "\"temperature\":0,";

    private static final int SEEDS = 6;

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    static Stream<String> schemas() {
        return Stream.of("""
                {"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":10},
                 "age":{"type":"integer","minimum":0,"maximum":150}},"required":["name","age"],"additionalProperties":false}""", """
                {"type":"array","minItems":1,"maxItems":4,"uniqueItems":true,"items":{"enum":["a","b",3,null,[1]]}}""", """
                {"oneOf":[{"type":"integer","multipleOf":3,"minimum":0,"maximum":999},
                 {"type":"integer","multipleOf":5,"minimum":0,"maximum":999}]}""", """
                {"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","additionalProperties":false,"required":["leaf"],
                 "properties":{"leaf":{"type":"boolean"},"left":{"$ref":"#/$defs/tree"}}}}}""", """
                {"type":"object","properties":{"kind":{"enum":["x","y"]}},"required":["kind"],"additionalProperties":false,
                 "if":{"properties":{"kind":{"const":"x"}}},"then":{"maxProperties":1},
                 "else":{"patternProperties":{"^n_[a-c]$":{"type":"number"}},"properties":{"kind":{},"w":{"type":"null"}},
                  "required":["w"]}}""", """
                {"type":"object","required":["when","id"],"additionalProperties":false,
                 "properties":{"when":{"type":"string","format":"date"},"id":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{1,4}$"}}}""", """
                {"type":"object","propertyNames":{"pattern":"^[a-d]$"},"additionalProperties":{"type":"boolean"},
                 "minProperties":1,"dependentRequired":{"a":["b"]},"not":{"required":["c"]}}""");
    }

    @ParameterizedTest
    @MethodSource("schemas")
    void answersAreValid(String schema) {
        var judge = REGISTRY.getSchema(DemoServer.json(schema));
        int whole = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            JsonNode choice =
                    chat("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"strict\":true,\"schema\":"
                                    + schema + "}},\"seed\":" + seed + ",\"temperature\":" + (1 + seed % 3))
                            .at("/choices/0");
            if (choice.at("/finish_reason").stringValue().equals("length")) {
                continue;
            }
            whole++;
            assertThat(choice.at("/finish_reason").stringValue()).isEqualTo("stop");
            String text = choice.at("/message/content").stringValue();
            assertThat(judge.validate(DemoServer.json(text))).as(text).isEmpty();
        }
        assertThat(whole).as("answers that were not cut").isPositive();
    }

    @Test
    void everySpellingOfTheWishIsHeard() {
        String object =
                "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"a\":{\"type\":\"boolean\"}}}";
        for (String wish : List.of(
                "\"response_format\":{\"type\":\"json_object\",\"schema\":" + object + "}",
                "\"structured_outputs\":{\"json\":" + object + ",\"disable_any_whitespace\":true}",
                "\"structured_outputs\":{\"json\":\"" + object.replace("\"", "\\\"") + "\"}",
                "\"guided_json\":" + object,
                "\"json_schema\":" + object)) {
            String text =
                    chat(LIKELIEST + wish).at("/choices/0/message/content").stringValue();
            assertThat(DemoServer.json(text).isObject()).as(wish + " → " + text).isTrue();
            assertThat(DemoServer.json(text).propertyNames()).isSubsetOf("a");
        }
        for (String wish : List.of(
                "\"structured_outputs\":{\"regex\":\"[0-9]{3}\"}",
                "\"guided_regex\":\"[0-9]{3}\"",
                "\"structured_outputs\":{\"grammar\":\"root ::= digit digit digit\\ndigit ::= [0-9]\"}",
                "\"guided_grammar\":\"root ::= [0-9]{3}\"",
                "\"grammar\":\"root ::= [0-9]{3}\"",
                "\"structured_outputs\":{\"grammar\":\"start: DIGIT~3\\nDIGIT: /[0-9]/\"}",
                "\"guided_choice\":[\"123\",\"456\"]",
                "\"structured_outputs\":{\"choice\":[\"123\",\"456\"]}")) {
            assertThat(chat(LIKELIEST + wish).at("/choices/0/message/content").stringValue())
                    .as(wish)
                    .matches("[0-9]{3}");
        }
        String any = chat(LIKELIEST + "\"response_format\":{\"type\":\"text\"}")
                .at("/choices/0/message/content")
                .stringValue();
        assertThat(any).isNotBlank();
    }

    @Test
    void completionsAndResponsesAreHeldToFormatsToo() {
        JsonNode completion = DemoServer.json(
                demo.post("/v1/completions", "{\"prompt\":[\"a\",\"b\"],\"guided_regex\":\"[xy]{4}\",\"n\":2}")
                        .body());
        assertThat(completion.at("/choices").size()).isEqualTo(4);
        completion
                .at("/choices")
                .forEach(each -> assertThat(each.at("/text").stringValue()).matches("[xy]{4}"));

        String format =
                "{\"type\":\"json_schema\",\"name\":\"answer\",\"schema\":{\"type\":\"boolean\"},\"strict\":true}";
        JsonNode response = DemoServer.json(demo.post(
                        "/v1/responses",
                        "{" + LIKELIEST + "\"input\":\"Write.\",\"max_output_tokens\":50,\"text\":{\"format\":" + format
                                + "}}")
                .body());
        assertThat(response.at("/output/0/content/0/text").stringValue()).isIn("true", "false");
        assertThat(response.at("/text/format")).isEqualTo(DemoServer.json(format));
    }

    @Test
    void streamsWhatItAnswers() {
        String wish = "\"guided_regex\":\"(ab|cd){5}\",\"temperature\":2,\"seed\":4";
        String whole = chat(wish).at("/choices/0/message/content").stringValue();
        var told = new StringBuilder();
        for (String event :
                DemoServer.events(demo.post("/v1/chat/completions", "{" + MESSAGES + ",\"stream\":true," + wish + "}")
                        .body())) {
            if (!event.equals("[DONE]")) {
                told.append(
                        DemoServer.json(event).at("/choices/0/delta/content").asString(""));
            }
        }
        assertThat(told).hasToString(whole);
        assertThat(whole).matches("(ab|cd){5}");
    }

    @Test
    void aRefusalNamesTheFieldAndThePlace() {
        var response = demo.post(
                "/v1/responses",
                "{\"input\":\"Write.\",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"x\",\"schema\":{\"items\":{\"pattern\":\"(\"}}}}}");
        assertThat(response.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(response.body()).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo("text.format.schema");
        assertThat(error.get("message").stringValue()).contains("at '/items', keyword 'pattern'");
    }

    private static JsonNode chat(String wishes) {
        var response = demo.post("/v1/chat/completions", "{" + MESSAGES + "," + wishes + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }
}
