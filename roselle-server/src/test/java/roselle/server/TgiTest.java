package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The paths of Text Generation Inference, answered by the demo model. */
final class TgiTest {
    private static final String TEXT = "Once upon a time";
    private static final String INPUTS = "\"inputs\":\"" + TEXT + "\"";

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
    void eachPathTellsTheSame() {
        JsonNode whole = generate("\"max_new_tokens\":8,\"details\":true");
        String parameters = ",\"parameters\":{\"max_new_tokens\":8,\"details\":true}";
        JsonNode listed =
                DemoServer.json(demo.post("/", "{" + INPUTS + parameters + "}").body());
        List<JsonNode> events = events("/generate_stream", parameters);
        List<JsonNode> others = events("/", parameters + ",\"stream\":true");

        assertThat(listed).hasSize(1);
        assertThat(listed.get(0)).isEqualTo(whole);
        assertThat(others).isEqualTo(events).hasSize(8);
        assertThat(whole.at("/details/tokens")).hasSize(8);
        assertThat(whole.at("/details/finish_reason").stringValue()).isEqualTo("length");
        for (List<JsonNode> tokens : List.of(
                whole.at("/details/tokens").valueStream().toList(),
                events.stream().map(event -> event.at("/token")).toList())) {
            assertThat(tokens.stream()
                            .map(token -> token.at("/text").stringValue())
                            .collect(Collectors.joining()))
                    .isEqualTo(whole.at("/generated_text").stringValue());
        }
        assertThat(events.getLast().at("/generated_text")).isEqualTo(whole.at("/generated_text"));
        assertThat(events.getLast().at("/details/generated_tokens").intValue()).isEqualTo(8);
        assertThat(events.getFirst().at("/generated_text").isNull()).isTrue();
        assertThat(events.getFirst().at("/details").isNull()).isTrue();
    }

    private static List<JsonNode> events(String path, String parameters) {
        return DemoServer.events(
                        demo.post(path, "{" + INPUTS + parameters + "}").body())
                .stream()
                .map(DemoServer::json)
                .toList();
    }

    @Test
    void saysTheSameAsOtherDialectsOfTheSameText() {
        String other = demo.post("/v1/completions", "{\"prompt\":\"" + TEXT + "\",\"max_tokens\":8,\"temperature\":0}")
                .body();

        assertThat(generate("\"max_new_tokens\":8").at("/generated_text").stringValue())
                .isEqualTo(DemoServer.json(other).at("/choices/0/text").stringValue());
        assertThat(generate("\"max_new_tokens\":8").has("details")).isFalse();
        assertThat(generate("\"max_new_tokens\":8,\"return_full_text\":true")
                        .at("/generated_text")
                        .stringValue())
                .startsWith(TEXT);
    }

    @Test
    void aTextEndsWithTheWordThatEndedIt() {
        String text = generate("\"max_new_tokens\":20").at("/generated_text").stringValue();
        String stop = text.substring(6, 10);
        String parameters = "\"max_new_tokens\":20,\"details\":true,\"stop\":[\"" + stop + "\"]";

        JsonNode cut = generate(parameters);
        List<JsonNode> events = events("/generate_stream", ",\"parameters\":{" + parameters + "}");

        assertThat(cut.at("/generated_text").stringValue())
                .isEqualTo(text.substring(0, text.indexOf(stop) + stop.length()));
        assertThat(cut.at("/details/finish_reason").stringValue()).isEqualTo("stop_sequence");
        assertThat(events.getLast().at("/generated_text")).isEqualTo(cut.at("/generated_text"));
    }

    @Test
    void theTokenThatEndsAnAnswerIsSpecial() {
        JsonNode details = generate("\"max_new_tokens\":900,\"details\":true").at("/details");
        JsonNode last = details.at("/tokens/" + (details.at("/tokens").size() - 1));

        assertThat(details.at("/finish_reason").stringValue()).isEqualTo("eos_token");
        assertThat(last.at("/special").booleanValue()).isTrue();
        assertThat(last.at("/text").stringValue()).isEmpty();
    }

    @Test
    void choosesTheLikeliestOfSeveralAnswers() {
        JsonNode details = generate(
                        "\"max_new_tokens\":6,\"best_of\":4,\"do_sample\":true,\"temperature\":3,\"details\":true")
                .at("/details");
        List<Double> others = details.at("/best_of_sequences")
                .valueStream()
                .map(TgiTest::meanLogprob)
                .toList();

        assertThat(others).hasSize(3).allMatch(other -> other <= meanLogprob(details));
    }

    private static double meanLogprob(JsonNode details) {
        return details.at("/tokens")
                .valueStream()
                .mapToDouble(token -> token.at("/logprob").doubleValue())
                .average()
                .orElseThrow();
    }

    @Test
    void tellsThePromptAndTheLikeliest() {
        JsonNode details = generate("\"max_new_tokens\":2,\"decoder_input_details\":true,\"top_n_tokens\":2")
                .at("/details");

        assertThat(details.at("/prefill").size()).isGreaterThan(2);
        assertThat(details.at("/prefill/0/logprob").isNull()).isTrue();
        assertThat(details.at("/prefill/1/logprob").doubleValue()).isNegative();
        assertThat(details.at("/top_tokens")).hasSize(2);
        assertThat(details.at("/top_tokens/0/0/id")).isEqualTo(details.at("/tokens/0/id"));
    }

    @Test
    void continuesTheLastTokensOfAPromptWhereThatIsAskedFor() {
        JsonNode cut = generate("\"max_new_tokens\":2,\"decoder_input_details\":true,\"truncate\":2");
        JsonNode whole = generate("\"max_new_tokens\":2,\"decoder_input_details\":true");
        JsonNode all = whole.at("/details/prefill");

        assertThat(cut.at("/details/prefill")).hasSize(2);
        assertThat(cut.at("/details/prefill/1/id"))
                .isEqualTo(all.get(all.size() - 1).at("/id"));
    }

    @Test
    void sampledAnswersAreAsTheirSeedSays() {
        String drawn = "\"max_new_tokens\":8,\"temperature\":2,\"details\":true,\"seed\":";

        assertThat(generate(drawn + 1)).isEqualTo(generate(drawn + 1)).isNotEqualTo(generate(drawn + 2));
        assertThat(generate(drawn + 1).at("/details/seed").intValue()).isEqualTo(1);
    }

    @Test
    void holdsAnAnswerToASchema() {
        String schema = "{\"type\":\"object\",\"additionalProperties\":false}";
        for (String value : List.of(schema, DemoServer.MAPPER.writeValueAsString(schema))) {
            String text = generate("\"grammar\":{\"type\":\"json\",\"value\":" + value + "}")
                    .at("/generated_text")
                    .stringValue();
            assertThat(DemoServer.json(text).isEmpty()).isTrue();
        }
    }

    @Test
    void tellsWhatItWasStartedWith() {
        JsonNode information = DemoServer.json(demo.get("/info").body());

        assertThat(information.at("/model_id").stringValue()).isEqualTo("demo");
        assertThat(information.at("/max_total_tokens").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(demo.get("/info?model=other").statusCode()).isEqualTo(404);
    }

    @Test
    void sharesItsPathWithThePage() {
        assertThat(demo.get("/").body()).contains("<html");
        JsonNode refused = DemoServer.json(demo.post("/", "{}").body());
        assertThat(refused.at("/error").stringValue()).isEqualTo("inputs is missing: it is required");
        assertThat(refused.at("/error_type").stringValue()).isEqualTo("validation");
        assertThat(demo.send(demo.request("/", "")
                                .PUT(java.net.http.HttpRequest.BodyPublishers.noBody())
                                .build())
                        .headers()
                        .firstValue("allow"))
                .contains("GET, POST, HEAD, OPTIONS");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"max_new_tokens\":0 | parameters.max_new_tokens is 0",
                "\"temperature\":0 | parameters.temperature is 0",
                "\"best_of\":2 | best_of is 2: it chooses among answers that differ",
                "\"best_of\":2,\"do_sample\":true,\"seed\":1 | it chooses among answers that differ",
                "\"watermark\":true | parameters.watermark is true",
                "\"adapter_id\":\"x\" | parameters.adapter_id is",
                "\"grammar\":{\"type\":\"lark\",\"value\":\"x\"} | parameters.grammar.type is not known",
                "\"grammar\":{\"type\":\"regex\",\"value\":\"(\"} | parameters.grammar.value:",
                "\"max_tokens\":3 | unknown field parameters.max_tokens",
            })
    void refusesByNameWhatItDoesNotHonour(String field, String said) {
        var refused = demo.post("/generate", "{" + INPUTS + ",\"parameters\":{" + field + "}}");

        assertThat(refused.statusCode()).isEqualTo(422);
        assertThat(DemoServer.json(refused.body()).at("/error").stringValue()).contains(said);
        assertThat(DemoServer.json(refused.body()).at("/error_type").stringValue())
                .isEqualTo("validation");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/generate | \"stream\":true | stream is true",
                "/generate_stream | \"stream\":false | stream is false",
                "/generate_stream | \"parameters\":{\"best_of\":2,\"do_sample\":true} | a stream has one answer",
                "/generate_stream | \"parameters\":{\"decoder_input_details\":true} | does not tell of its prompt",
                "/ | \"parameters\":{\"decoder_input_details\":true},\"stream\":true | does not tell of its prompt",
                "/generate | \"model\":\"\" | there is no model",
            })
    void refusesWhatAPathDoesNotDo(String path, String fields, String said) {
        var refused = demo.post(path, "{" + INPUTS + "," + fields + "}");

        assertThat(refused.statusCode()).isIn(404, 422);
        assertThat(DemoServer.json(refused.body()).at("/error").stringValue()).contains(said);
    }

    private static JsonNode generate(String parameters) {
        var response = demo.post("/generate", "{" + INPUTS + ",\"parameters\":{" + parameters + "}}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }
}
