package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** The paths of llama.cpp's server, answered by the demo model. */
final class LlamaCppTest {
    private static final String PROMPT = "\"prompt\":\"Once upon a time\",\"temperature\":0";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    /** By both APIs that have windows, as the engine answers that is told of one. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 4})
    void penaltiesSeeTheWindowThatIsAskedFor(int window) {
        String prompt = "Once upon a time there was a fox. The fox";
        String expected = windowed(prompt, window < 0 ? SamplingParameters.ALL_TOKENS : window);
        String options = "\"temperature\":0,\"repeat_penalty\":30,\"repeat_last_n\":" + window;

        String completed = "{\"prompt\":\"" + prompt + "\",\"n_predict\":12," + options + "}";
        assertThat(DemoServer.json(demo.post("/completion", completed).body())
                        .at("/content")
                        .stringValue())
                .isEqualTo(expected);
        String generated = "{\"model\":\"demo\",\"raw\":true,\"stream\":false,\"prompt\":\"" + prompt
                + "\",\"options\":{\"num_predict\":12," + options + "}}";
        assertThat(DemoServer.json(demo.post("/api/generate", generated).body())
                        .at("/response")
                        .stringValue())
                .isEqualTo(expected);
        assertThat(expected.equals(windowed(prompt, SamplingParameters.ALL_TOKENS)))
                .as("whether the window makes no difference")
                .isEqualTo(window < 0);
    }

    /** Penalties for presence and frequency see tokens of the prompt by llama.cpp's API. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 4})
    void penaltiesForPresenceSeeThePrompt(int window) {
        String prompt = "The fox lived in a castle. ".repeat(4) + "The fox";
        var request = greedy(prompt).presencePenalty(2).frequencyPenalty(2);
        request.penaltyWindow(window < 0 ? SamplingParameters.ALL_TOKENS : window);
        String expected = text(request.penalizesPrompt(true));
        String options = "\"temperature\":0,\"presence_penalty\":2,\"frequency_penalty\":2,\"repeat_last_n\":" + window;

        String completed = "{\"prompt\":\"" + prompt + "\",\"n_predict\":12," + options + "}";
        assertThat(DemoServer.json(demo.post("/completion", completed).body())
                        .at("/content")
                        .stringValue())
                .isEqualTo(expected);
        if (window < 0) {
            assertThat(text(request.penalizesPrompt(false)))
                    .as("of the answer alone")
                    .isNotEqualTo(expected);
        }
    }

    private static GenerationRequestBuilder greedy(String prompt) {
        return GenerationRequest.builder()
                .prompt(new Prompt.Text(prompt, true, true))
                .temperature(0)
                .maxTokens(12);
    }

    private static String windowed(String prompt, int window) {
        return text(greedy(prompt).repetitionPenalty(30).penaltyWindow(window));
    }

    private static String text(GenerationRequestBuilder asked) {
        GenerationRequest request = asked.build();
        var text = new StringBuilder();
        try (var generation = demo.engine().submit(request)) {
            for (GenerationEvent event : generation) {
                switch (event) {
                    case GenerationEvent.TokenGenerated token -> text.append(token.text());
                    case GenerationEvent.ChoiceEnded end -> text.append(end.text());
                    default -> {}
                }
            }
        }
        return text.toString();
    }

    @Test
    void aStreamTellsTheSameAsTheWhole() {
        JsonNode whole = completion(PROMPT + ",\"n_predict\":8,\"return_tokens\":true");
        List<JsonNode> events =
                DemoServer.events(demo.post("/completion", "{" + PROMPT + ",\"n_predict\":8,\"stream\":true}")
                                .body())
                        .stream()
                        .map(DemoServer::json)
                        .toList();

        assertThat(events.stream()
                        .map(event -> event.at("/content").stringValue())
                        .collect(Collectors.joining()))
                .isEqualTo(whole.at("/content").stringValue())
                .isNotBlank();
        assertThat(events.stream().mapToInt(event -> event.at("/tokens").size()).sum())
                .isEqualTo(whole.at("/tokens").size())
                .isEqualTo(8);
        assertThat(events.stream().filter(event -> event.at("/stop").booleanValue()))
                .hasSize(1);
        for (JsonNode end : List.of(whole, events.getLast())) {
            assertThat(end.at("/stop_type").stringValue()).isEqualTo("limit");
            assertThat(end.at("/tokens_predicted").intValue()).isEqualTo(8);
            assertThat(end.at("/timings/predicted_n").intValue()).isEqualTo(8);
            assertThat(end.at("/timings/predicted_ms").doubleValue()).isPositive();
            assertThat(end.at("/timings/predicted_per_token_ms").doubleValue())
                    .isEqualTo(end.at("/timings/predicted_ms").doubleValue() / 8);
            assertThat(end.at("/timings/predicted_per_second").doubleValue()).isPositive();
            assertThat(end.at("/timings").has("prompt_per_token_ms")).isTrue();
            assertThat(end.at("/timings").has("prompt_per_second")).isTrue();
        }
    }

    @Test
    void saysTheSameAsOtherDialectsOfTheSameText() {
        String other = demo.post("/v1/completions", "{" + PROMPT + ",\"max_tokens\":8}")
                .body();

        assertThat(completion(PROMPT + ",\"n_predict\":8").at("/content").stringValue())
                .isEqualTo(DemoServer.json(other).at("/choices/0/text").stringValue());
    }

    @Test
    void endsAtAWordAndNamesIt() {
        String text = completion(PROMPT + ",\"n_predict\":20").at("/content").stringValue();
        String stop = text.substring(6, 10);

        JsonNode cut = completion(PROMPT + ",\"n_predict\":20,\"stop\":[\"" + stop + "\"]");

        assertThat(cut.at("/stop_type").stringValue()).isEqualTo("word");
        assertThat(cut.at("/stopping_word").stringValue()).isEqualTo(stop);
        assertThat(cut.at("/content").stringValue()).isEqualTo(text.substring(0, text.indexOf(stop)));
    }

    @Test
    void nothingComesFromTheCacheWhereThatIsNotWanted() {
        String lasting = "\"prompt\":\"" + "A fox went to the sea. ".repeat(20) + "\",\"n_predict\":1";
        completion(lasting);

        assertThat(completion(lasting).at("/tokens_cached").intValue()).isPositive();
        assertThat(completion(lasting + ",\"cache_prompt\":false")
                        .at("/tokens_cached")
                        .intValue())
                .isZero();
    }

    @Test
    void biasesForbidTokens() {
        int first = completion(PROMPT + ",\"n_predict\":1,\"return_tokens\":true")
                .at("/tokens/0")
                .intValue();
        for (String bias : List.of("[[" + first + ",false]]", "{\"" + first + "\":-100}")) {
            JsonNode other = completion(PROMPT + ",\"n_predict\":1,\"return_tokens\":true,\"logit_bias\":" + bias);
            assertThat(other.at("/tokens/0").intValue()).isNotEqualTo(first);
        }
    }

    @Test
    void holdsAnAnswerToAGrammar() {
        assertThat(completion(PROMPT + ",\"grammar\":\"root ::= \\\"yes\\\" | \\\"no\\\"\"")
                        .at("/content")
                        .stringValue())
                .isIn("yes", "no");
        String schema = "{\"type\":\"object\",\"additionalProperties\":false}";
        assertThat(completion(PROMPT + ",\"json_schema\":" + schema)
                        .at("/content")
                        .stringValue())
                .startsWith("{");
    }

    @Test
    void tellsProbabilitiesWithTheIdsOfTokens() {
        JsonNode probabilities = completion(PROMPT + ",\"n_predict\":3,\"n_probs\":2,\"return_tokens\":true")
                .at("/completion_probabilities");

        assertThat(probabilities).hasSize(3);
        assertThat(probabilities.at("/0/top_logprobs/0/id").intValue())
                .isEqualTo(probabilities.at("/0/id").intValue());
    }

    @Test
    void tellsWhatItWasStartedWith() {
        JsonNode properties = DemoServer.json(demo.get("/props").body());

        assertThat(properties.at("/default_generation_settings/n_ctx").intValue())
                .isEqualTo(demo.engine().context());
        assertThat(properties.at("/total_slots").intValue())
                .isEqualTo(demo.engine().plan().maxSequences());
        assertThat(properties.at("/default_generation_settings/params/top_k").isInt())
                .isTrue();
        assertThat(properties.at("/model_path").stringValue()).isEqualTo("demo");
        assertThat(properties.at("/chat_template").stringValue())
                .isEqualTo(demo.engine().facts().chatTemplate())
                .contains("<|im_start|>");
        assertThat(properties.at("/eos_token").stringValue()).isEqualTo("<|endoftext|>");
        assertThat(properties.at("/bos_token").stringValue()).isEqualTo("<|endoftext|>");
        assertThat(properties.at("/build_info").stringValue()).startsWith("roselle-");
        assertThat(demo.get("/props?model=other").statusCode()).isEqualTo(404);
    }

    @Test
    void hasASlotForEachAnswerAtATime() {
        JsonNode slots = DemoServer.json(demo.get("/slots?fail_on_no_slot=1").body());

        assertThat(slots).hasSize(demo.engine().plan().maxSequences());
        assertThat(slots.at("/0/n_ctx").intValue()).isEqualTo(demo.engine().context());
        assertThat(demo.get("/slots?model=other").statusCode()).isEqualTo(404);
    }

    @Test
    void tellsHowManySlotsAreTaken() {
        var pace = new Pace();
        try (var slow = new DemoServer(ServerConfig.DEFAULT, pace)) {
            pace.slow(Duration.ofMillis(20));
            var asked = slow.client()
                    .sendAsync(
                            slow.request("/completion", "{" + PROMPT + ",\"n_predict\":200}")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            DemoServer.await(() -> busy(slow) == 1);
            pace.go();
            asked.join();
            DemoServer.await(() -> busy(slow) == 0);
        }
    }

    private static long busy(DemoServer server) {
        return DemoServer.json(server.get("/slots").body())
                .valueStream()
                .filter(slot -> slot.at("/is_processing").booleanValue())
                .count();
    }

    @Test
    void tellsThePromptThatAConversationBecomes() {
        String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"Tell me of a fox.\"}]";
        String prompt = DemoServer.json(
                        demo.post("/apply-template", "{" + messages + "}").body())
                .at("/prompt")
                .stringValue();
        JsonNode asked = DemoServer.json(
                demo.post("/v1/chat/completions", "{" + messages + ",\"temperature\":0,\"max_tokens\":8}")
                        .body());
        String continued = completion("\"prompt\":" + DemoServer.MAPPER.writeValueAsString(prompt)
                        + ",\"temperature\":0,\"n_predict\":8")
                .at("/content")
                .stringValue();

        assertThat(prompt).contains("Tell me of a fox.");
        assertThat(continued)
                .isNotBlank()
                .isEqualTo(asked.at("/choices/0/message/content").stringValue());
    }

    @Test
    void tokenizesContentAndBack() {
        JsonNode plain = tokenized("\"content\":\"a fox é\"");
        JsonNode pieces = tokenized("\"content\":\"a fox é\",\"with_pieces\":true");

        assertThat(pieces.valueStream().map(piece -> piece.at("/id").intValue()))
                .containsExactlyElementsOf(
                        plain.valueStream().map(JsonNode::intValue).toList());
        assertThat(pieces.valueStream()
                        .map(piece -> piece.at("/piece"))
                        .filter(JsonNode::isString)
                        .map(JsonNode::stringValue)
                        .collect(Collectors.joining()))
                .startsWith("a fox");
        assertThat(DemoServer.json(demo.post("/detokenize", "{\"tokens\":" + plain + "}")
                                .body())
                        .at("/content")
                        .stringValue())
                .isEqualTo("a fox é");
        assertThat(tokenized("\"content\":\"a\",\"add_special\":true").size())
                .isGreaterThanOrEqualTo(tokenized("\"content\":\"a\"").size());
    }

    private static JsonNode tokenized(String fields) {
        var response = demo.post("/tokenize", "{" + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body()).at("/tokens");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"content\":\"a\",\"prompt\":\"a\" | prompt is",
                "\"content\":\"a\",\"return_token_strs\":true | return_token_strs is",
                "\"content\":\"a\",\"messages\":[] | messages is",
                "\"prompt\":\"a\",\"with_pieces\":true | with_pieces is",
            })
    void refusesFieldsOfAnotherFormOfTokenizing(String fields, String said) {
        var refused = demo.post("/tokenize", "{" + fields + "}");

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(refused.body()).at("/error/message").stringValue())
                .startsWith(said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/lora-adapters"})
    void whatIsNotSupportedSaysSo(String path) {
        var refused = demo.get(path);

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoServer.json(refused.body()).at("/error/type").stringValue())
                .isEqualTo("not_supported_error");
        assertThat(demo.post("/props", "{}").statusCode()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"n_predict\":0 | n_predict is 0",
                "\"mirostat\":2 | mirostat is 2",
                "\"xtc_probability\":0.5 | xtc_probability is 0.5",
                "\"samplers\":[\"top_k\"] | samplers is",
                "\"id_slot\":1 | id_slot is 1",
                "\"logit_bias\":[[1,true]] | logit_bias is",
                "\"logit_bias\":[[1,101]] | logit_bias is",
                "\"grammar\":\"root ::= x\" | grammar:",
                "\"prompt\":{} | prompt is",
                "\"n_threads\":3 | unknown field n_threads",
            })
    void refusesByNameWhatItDoesNotHonour(String field, String said) {
        String prompt = field.startsWith("\"prompt\"") ? "" : PROMPT + ",";
        JsonNode refused = DemoServer.json(
                demo.post("/completion", "{" + prompt + field + "}").body());

        assertThat(refused.at("/error/message").stringValue()).contains(said);
        assertThat(refused.at("/error/code").intValue()).isEqualTo(400);
    }

    @Test
    void whatIsSwitchedOffMayBeSaid() {
        completion(PROMPT + """
                ,"n_predict":1,"dynatemp_range":0,"dynatemp_exponent":1.0,"xtc_probability":0.0,"xtc_threshold":0.1,
                 "dry_multiplier":0,"dry_base":1.75,"dry_allowed_length":2,"dry_penalty_last_n":-1,"mirostat":0,
                 "mirostat_tau":5,"mirostat_eta":0.1,"n_keep":0,"seed":-1,"min_keep":0,"t_max_predict_ms":-1,
                 "dry_sequence_breakers":["\\n"],"repeat_last_n":64,"repeat_penalty":1.0,"lora":[],"id_slot":-1,"top_k":-1""");
    }

    private static JsonNode completion(String fields) {
        var response = demo.post("/completion", "{" + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }
}
